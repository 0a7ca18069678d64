"""An input on which a device under test differs from a model, made small."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray
from golden.chains.chain import Chain
from golden.checks import check_least
from golden.comparison import differing
from golden.device import Device
from golden.engines.batched_dot import explained
from golden.engines.engine import Batch, run
from golden.stimulus import Operands, OperandShape, chunks
from golden.stimulus.shrink import smallest_operands
from golden.trace import Trace
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from golden.variants.keys import with_key
from mmau.probe.candidates import pool_of
from mmau.probe.device_under_test import DeviceUnderTestError, Questioner, dut_of
from mmau.probe.journal import Journal

CHUNK = 1 << 16
"""Random vectors that are compared at once."""


@dataclass(frozen=True)
class Side:
    """An arithmetic over K products: a unit or an instruction under its name."""

    name: str
    chain: Chain
    shape: OperandShape

    def run(self, operands: Operands) -> BitArray:
        """Compute d for every row."""
        return run(None, self.chain, Batch(*operands))

    def trace(self, row: Operands) -> Trace:
        """The steps of one row [1, K]."""
        one = (row.a[0], row.b[0], row.c[0], *(None if scales is None else scales[0] for scales in row[3:]))
        return explained(self.name, self.chain, self.shape.K, one)


Verdict = bool | Operands | str
"""The result of a prover: True if two sides are equal for every input, an input [1, K] on which they differ, or the reason
why neither was shown."""

Prover = Callable[[Side, Side], Verdict]


@dataclass(frozen=True)
class Alike:
    """No difference was found.

    Attributes:
        tried: vectors that were compared.
        proved: whether a prover showed that there is none.
        why: its reason otherwise; empty without a prover.
    """

    tried: int
    proved: bool = False
    why: str = ""


@dataclass(frozen=True)
class Difference:
    """An input on which two sides differ.

    Attributes:
        x, y: the sides.
        row: the input, [1, K].
        d: the result of each side.
        tried: vectors that were compared until one differed.
    """

    x: Side
    y: Side
    row: Operands
    d: tuple[int, int]
    tried: int


def sides(x: Unit | Instruction, y: Unit | Instruction) -> tuple[Side, Side]:
    """Both models as sides over the same number of products: the smallest that suits both.

    Raises:
        ValueError: they take other operands, or give results of other formats.
    """
    shapes = [dut_of(model).shape for model in (x, y)]
    for key in ("a", "b", "c", "d", "scale", "block_size"):
        found = [getattr(shape, key) for shape in shapes]
        if found[0] != found[1]:
            raise ValueError(f"{key} must be the same for both, to give them the same inputs; got {found[0]} and {found[1]}")
    scales = [" and ".join(shape.scale_operands) for shape in shapes]
    if scales[0] != scales[1]:
        raise ValueError(f"scales must be the same for both, to give them the same inputs; got {scales[0]}, and {scales[1]}")
    K = lcm(shapes[0].K, shapes[1].K)
    return _side(x, shapes[0], K), _side(y, shapes[1], K)


def _side(model: Unit | Instruction, shape: OperandShape, K: int) -> Side:
    kept = {key: getattr(shape, key) for key in ("a", "b", "c", "d", "scale", "block_size", "scale_operands")}
    whole = OperandShape(**kept, K=K)
    if isinstance(model, Unit):
        return Side(model.label, model.chain_over(K), whole)
    if model.fp16_order is not None and model.k != K:
        raise ValueError(f"K of {model.label} must be {model.k}, for c is added after all products; got {K}")
    return Side(model.label, model.chain, whole)


def distinguish(x: Side, y: Side, vectors: int, seed: int, prover: Prover | None = None) -> Difference | Alike:
    """An input on which the two differ, minimised; or that none was found.

    Args:
        vectors: random vectors to compare at most, after those made to show a difference.
        seed: the seed of all vectors.
        prover: asked where no vector shows a difference, about as many products as are whole steps of both.
    """
    check_least("vectors", vectors, 1)
    check_least("seed", seed, 0)

    tried = 0
    for rows in stream(x.shape, vectors, seed):
        found = np.flatnonzero(differs(x, y, rows))
        if len(found):
            return _smallest(x, y, rows.rows(found[:1]), tried + int(found[0]) + 1)
        tried += len(rows.c)
    return Alike(tried) if prover is None else asked_prover(prover, x, y, tried)


def differs(x: Side, y: Side, rows: Operands) -> np.ndarray:
    """Rows on which two sides differ, by the rule of either for NaN."""
    got, expected = x.run(rows), y.run(rows)
    return np.asarray(differing(got, expected, x.chain.operation) | differing(got, expected, y.chain.operation))


def _smallest(x: Side, y: Side, row: Operands, tried: int) -> Difference:
    row = smallest_operands(row, x.shape, lambda rows: differs(x, y, rows))
    return Difference(x, y, row, (int(x.run(row)[0]), int(y.run(row)[0])), tried)


def asked_prover(prover: Prover, x: Side, y: Side, tried: int) -> Difference | Alike:
    """The verdict of a prover on as many products as both take in whole steps; equality of these implies that of chains."""
    if any(type(side.chain) is not Chain for side in (x, y)):  # or sums outside of the steps
        return Alike(tried, why="a prover compares chains of steps alone, which these are not")
    first, second = (_block(side, (x, y)) for side in (x, y))
    verdict = prover(first, second)
    if isinstance(verdict, Operands):
        if differs(first, second, verdict)[0]:
            return _smallest(first, second, verdict, tried)
        return Alike(
            tried,
            why="the input that the prover found shows no difference between the models, so its terms do not describe them",
        )
    if verdict is True:
        verdict = _proved_further(prover, x, first, second)
    return Alike(tried, proved=verdict is True, why=verdict if isinstance(verdict, str) else "")


def _block(side: Side, both: tuple[Side, Side]) -> Side:
    """A side over the fewest products that are whole steps of both."""
    return replace(side, shape=replace(side.shape, K=lcm(*(each.chain.operation.length for each in both))))


def _proved_further(prover: Prover, whole: Side, first: Side, second: Side) -> bool | str:
    """The verdict of a prover on the products after the first block, whose c is the previous step's d in its format."""
    if whole.shape.K <= first.shape.K:
        return True
    later = [replace(side, chain=Chain(side.chain.operation.accumulating())) for side in (first, second)]
    if [side.chain for side in later] == [first.chain, second.chain]:
        return True
    verdict = prover(*(replace(side, shape=replace(side.shape, c=side.shape.d)) for side in later))
    return "from the second step on they may differ" if isinstance(verdict, Operands) else verdict


def stream(shape: OperandShape, vectors: int, seed: int) -> Iterator[Operands]:
    """Rows that are made to show a difference, then random ones."""
    yield pool_of(shape, seed)
    for chunk in chunks(shape, vectors, seed, CHUNK):
        yield chunk.operands


def text_of(difference: Difference) -> str:
    """The input, both results and their bits, where the steps part, and the steps of both."""
    x, y, d = difference.x, difference.y, difference.x.shape.d
    traces = [side.trace(difference.row) for side in (x, y)]
    texts = [trace.text() for trace in traces]
    lines = [
        f"x  {x.name}: {d.describe(difference.d[0])}",
        f"y  {y.name}: {d.describe(difference.d[1])}",
        f"   {bits_that_differ(d, *difference.d)}, found after {difference.tried} vectors",
        *parting(*(_body(text) for text in texts)),
    ]
    return "\n".join(lines) + "\n\n" + "\n".join(texts)


def _body(text: str) -> list[str]:
    """A trace without its heading, which names the model."""
    return text.splitlines()[1:]


def parting(of_x: list[str], of_y: list[str]) -> list[str]:
    """The first place at which two traces differ."""
    step = ""
    for left, right in zip(of_x, of_y, strict=False):
        if left != right:
            where = f"they first differ in {step}" if step else "they first differ"
            return [f"{where}:", f"   x  {left.strip()}", f"   y  {right.strip()}"]
        if left and not left.startswith("    "):
            step = left.strip()
    return ["they differ in the number of steps"]


def bits_that_differ(d: Format, x: int, y: int) -> str:
    """The bits in which two codes differ, in words."""
    changed = x ^ y
    places = [n for n in range(d.width) if changed >> n & 1]
    return f"{len(places)} bits of d differ: {', '.join(map(str, places))}, counted from the lowest"


@dataclass(frozen=True)
class Parameter:
    """A parameter whose value differs between x and y.

    Attributes:
        key: the parameter's name. x, y: its values.
        alone: whether x with y's value of this key alone gives y's result; None where x's operation cannot have it.
    """

    key: str
    x: object
    y: object
    alone: bool | None

    def line(self) -> str:
        """The parameter as a line of text."""
        what = {
            True: "makes the difference: x with y's value gives y's result",
            False: "does not by itself: x with y's value does not give y's result",
            None: "cannot be changed alone",
        }
        return f"   {self.key} = {self.x} in x, {self.y} in y: {what[self.alone]}"


def parameters_apart(found: Difference) -> list[Parameter]:
    """The parameters that differ, those that make the difference first; none for chains of other kinds or operations."""
    x, y = found.x.chain, found.y.chain
    if not (x.is_plain and y.is_plain) or x.operation.name != y.operation.name:
        return []
    of_x, of_y = x.operation.parameters(), y.operation.parameters()
    keys = [key for key in {**of_x, **of_y} if _value(found.x, key) != _value(found.y, key)]
    parameters = [Parameter(key, _value(found.x, key), _value(found.y, key), _alone(found, key)) for key in keys]
    return sorted(parameters, key=lambda one: one.alone is not True)


def _value(side: Side, key: str) -> object:
    return getattr(side.chain.operation, key)


def _alone(found: Difference, key: str) -> bool | None:
    operation = with_key(found.x.chain.operation, key, _value(found.y, key))
    if operation is None or found.x.shape.K % operation.length:
        return None
    try:
        return int(replace(found.x, chain=Chain(operation)).run(found.row)[0]) == found.d[1]
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True)
class DeviceDifference:
    """An input on which a device under test differs from a model.

    Attributes:
        model: the model. device: the device's name.
        row: the input, [1, K]. d: the result of the model, and of the device.
        tried: vectors that were compared until one differed.
    """

    model: Side
    device: str
    row: Operands
    d: tuple[int, int]
    tried: int

    def text(self) -> str:
        """The input, both results, and the steps of the model."""
        d = self.model.shape.d
        lines = [
            f"x  {self.model.name}: {d.describe(self.d[0])}",
            f"y  {self.device}: {d.describe(self.d[1])}",
            f"   {bits_that_differ(d, *self.d)}, found after {self.tried} vectors",
        ]
        return "\n".join(lines) + "\n\n" + self.model.trace(self.row).text()

    def as_dict(self) -> dict[str, Any]:
        """The report as plain JSON."""
        named = zip(self.row._fields, self.row, strict=True)
        return {
            "equal": False,
            "input": {name: np.asarray(array)[0].tolist() for name, array in named if array is not None},
            "x": {"name": self.model.name, "d": self.d[0]},
            "y": {"name": self.device, "d": self.d[1]},
            "vectors": self.tried,
        }


def held_against(model: Side, dut: Device, vectors: int, seed: int) -> DeviceDifference | int:
    """An input on which the device differs, or the number of vectors that showed no difference.

    Args:
        vectors: random vectors to compare at most, after those made to show a difference. seed: the seed of all vectors.

    Raises:
        DeviceUnderTestError: the device misbehaves, or answers an input that shows a difference in two ways.
    """
    questioner = Questioner(dut, Journal(dut.name, dut.shape))

    def differs(rows: Operands) -> np.ndarray:
        return np.asarray(differing(questioner.ask(rows), model.run(rows), model.chain.operation))

    tried = 0
    for rows in stream(model.shape, vectors, seed):
        d = questioner.ask_unrecorded(rows)
        found = np.flatnonzero(differing(d, model.run(rows), model.chain.operation))
        if len(found):
            first = rows.rows(found[:1])
            again = int(questioner.ask(first)[0])
            if again != d[found[0]]:
                raise DeviceUnderTestError(
                    f"{dut.name} must give the same result whenever it is asked, and gave {dut.shape.d} "
                    f"{int(d[found[0]]):#x} first, then {again:#x}"
                )
            row = smallest_operands(first, model.shape, differs)
            results = int(model.run(row)[0]), int(questioner.ask(row)[0])
            return DeviceDifference(model, dut.name, row, results, tried + int(found[0]) + 1)
        tried += len(rows.c)
    return tried
