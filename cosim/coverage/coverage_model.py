"""The coverage model of an operation: its covergroups, how often given rows hit each bin, and the bins that remain.

`Counts` are the hit counts of one `Model`, an operation with its parameters and one K, and can be merged over runs.
`covergroups` puts together the groups of the modules beside this one. Those of operations whose every multiplication and
addition is rounded by itself are here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from cosim.coverage.covergroup import NAN, Covergroup, IntArray, Point, Reason, Seen, chosen
from cosim.coverage.raised_flags import flag_group
from cosim.coverage.roundings import OUTCOMES, SIGNS, never, rounding_groups, too_fine
from cosim.coverage.shapes import roundings_of
from cosim.coverage.specials import operand_groups, special_groups
from cosim.coverage.sums import sum_groups
from golden import Operation
from golden.arithmetic.formats import FP32, Format
from golden.chains.chain import steps_for
from golden.native.observe import RoundingFlag as Flag
from golden.operations.exact_sum import ExactSum
from golden.operations.structure import Partial, Product, Structure, Sum
from golden.stimulus import Operands
from golden.units.own_formats import formats_of, table_of
from golden.units.unit_file import operation_from_table


@dataclass(frozen=True)
class Model:
    """The model whose coverage is counted: an operation with its parameters, over K products."""

    operation: Operation
    K: int

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain JSON, which `from_dict` reads."""
        formats = {form.name: table_of(form) for form in formats_of(self.operation)}
        own = {"formats": formats} if formats else {}
        return {"operation": self.operation.name, "parameters": self.operation.parameters(), "K": self.K, **own}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Model":
        """Read a model from the output of `as_dict`.

        Raises:
            KeyError, TypeError, ValueError: the table is not such an output.
        """
        keys = {"operation": table["operation"], **table["parameters"], "formats": table.get("formats", {})}
        return cls(operation_from_table(keys), table["K"])

    def __str__(self) -> str:
        keys = ", ".join(f"{key} = {value}" for key, value in self.operation.parameters().items())
        return f"{self.operation.name}, {keys}, K = {self.K}"


@dataclass(frozen=True)
class Counts:
    """The hit count of each bin of a model.

    Attributes:
        model: the model that the bins belong to.
        rows: number of dot products that were compared and agreed.
        hits: from the name of a covergroup to the counts of its bins, in order.
    """

    model: Model
    rows: int
    hits: Mapping[str, list[int]]

    def merged(self, other: "Counts") -> "Counts":
        """The sums of both counts; merging is commutative and associative.

        Raises:
            ValueError: the counts belong to different models.
        """
        if other.model != self.model:
            raise ValueError(f"coverage is merged of one model alone, got {self.model} and {other.model}")
        hits = {name: [x + y for x, y in zip(of, other.hits[name], strict=True)] for name, of in self.hits.items()}
        return Counts(self.model, self.rows + other.rows, hits)

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain JSON, which `from_dict` reads."""
        return {"model": self.model.as_dict(), "rows": self.rows, "hits": dict(self.hits)}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Counts":
        """Read counts from the output of `as_dict`."""
        return cls(Model.from_dict(table["model"]), table["rows"], table["hits"])


def merged(counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """Merge counts of the same model, in the order in which the models first appear."""
    found: dict[Model, Counts] = {}
    for each in counts:
        found[each.model] = found[each.model].merged(each) if each.model in found else each
    return tuple(found.values())


PLACES = ("exact", "toward zero", "away from zero", "flushed", "overflow", "infinite or NaN")


def multiply_add_groups(operation: Operation) -> list[Covergroup]:
    """The covergroups of a step: the outcome of each operation, and the origin of a NaN."""
    return [place_group(operation), kept_nan_group(operation)]


def place_group(operation: Operation) -> Covergroup:
    """The outcome of each operation, in the order in which they are carried out."""
    shapes = roundings_of(operation, False)
    names = tuple(_name(operation.structure, each) for each in operation.structure.sums)
    shape_of = {names[n]: shape for shape in shapes for n in shape.roundings}
    assert len(names) == len(shape_of)

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        flags = seen.records.roundings["flags"]
        exact = (flags & (Flag.GUARD | Flag.STICKY)) == 0
        outcome = chosen(
            flags & Flag.MADE == 0, flags & Flag.OVERFLOW != 0, flags & Flag.FLUSHED != 0, exact, flags & Flag.AWAY != 0,
            ~exact,
        )  # fmt: skip
        return np.arange(len(names)), np.array([5, 4, 3, 0, 2, 1])[outcome]

    def unreachable(place: str, outcome: str) -> Reason:
        shape = shape_of[place]
        if outcome in PLACES[1:3]:
            return too_fine(shape, 1)
        wanted = {"flushed": OUTCOMES[5:6], "overflow": OUTCOMES[6:]}.get(outcome, ())
        reasons = [never(shape, each, sign) for each in wanted for sign in SIGNS]
        return reasons[0] if reasons and None not in reasons else None

    return Covergroup("each operation", (Point("of", names), Point("outcome", PLACES)), sample, unreachable)


def _name(structure: Structure, of: Sum) -> str:
    """What an operation of a step is called: by its product, or by its two terms."""
    product = _product(of)
    if product is not None:
        return f"product {product.k}"
    totals = (structure.sums[node.of].total if isinstance(node, Partial) else "c" for node in of.nodes)
    return " + ".join(total.removesuffix(" sum") if "+" not in total else "sum" for total in totals)


def _product(of: Sum) -> Product | None:
    return next((node for node in of.nodes if isinstance(node, Product)), None)


KEPT = ("of a", "of b", "of c", "of an invalid operation")
"""Origins of the NaN that a step returns."""


def kept_nan_group(operation: Operation) -> Covergroup:
    """The NaN of a result: its origin, whether other operands are NaN too, and whether it was signalling.

    FTZ-FMA returns the NaN of the product that is added last; FTZ-EO-FMA returns that of c, then that of the even chain.
    Within a chain the last product has priority, and a before b. An invalid operation gives a NaN only if no operand is NaN.
    """
    beside = ("no NaN beside it", "NaNs beside it")
    kinds = ("quiet", "signalling", "invalid")

    L, is_chain = operation.length, all(_product(each) is not None for each in operation.structure.sums)

    def sample(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
        a, b, c = (_quieted(operand, codes) for operand, codes in seen.codes)
        count = (a > 0).sum(axis=-1) + (b > 0).sum(axis=-1) + (c > 0)
        chains = [range(L)] if is_chain else [range(start, L, 2)[::-1] for start in (0, 1)]
        order = [(which, codes[..., k]) for chain in chains for k in chain for which, codes in ((0, a), (1, b))]
        order.insert(len(order) if is_chain else 0, (2, c))
        source, first = chosen(*(codes > 0 for _, codes in order)), np.zeros(c.shape, np.int64)
        for place, (_, codes) in enumerate(order):
            first[source == place] = codes[source == place]
        found = np.array([which for which, _ in order])[source]
        # An invalid operation may come before it.
        is_operand = (source >= 0) & (seen.records.d == (first & 0xFFFFFFFF))
        kind = np.where(is_operand, first >> 32 & 1, 2)
        return np.where(seen.d == NAN, np.where(is_operand, found, 3), -1), np.where(count > is_operand, 1, 0), kind

    def unreachable(source: str, others: str, kind: str) -> Reason:
        if (source == KEPT[3]) != (kind == kinds[2]):
            return "an invalid operation gives a NaN of its own" if source == KEPT[3] else "it is an operand's"
        if is_chain and others == beside[1] and source in KEPT[2:]:
            return "every NaN of an operand goes before it"
        return None

    points = (Point("NaN", KEPT), Point("others", beside), Point("kind", kinds))
    return Covergroup("NaN that is kept", points, sample, unreachable)


def _quieted(operand: Format, codes: IntArray) -> IntArray:
    """For a NaN its quiet fp32 code plus 2^33, plus 2^32 if it was signalling; 0 for other values."""
    codes = codes.astype(np.int64)
    sign, magnitude = codes >> (operand.width - 1), codes & (operand.codes // 2 - 1)
    assert operand.infinity is not None
    quiet = magnitude >> (operand.man_bits - 1) & 1
    payload = (magnitude & ((1 << operand.man_bits) - 1)) << (FP32.man_bits - operand.man_bits)
    code = sign << 31 | FP32.signed_infinity(0) | 1 << (FP32.man_bits - 1) | payload
    return np.where(magnitude > operand.infinity, code | (3 - quiet) << 32, 0)


@lru_cache(maxsize=64)
def covergroups(model: Model) -> tuple[Covergroup, ...]:
    """Every covergroup of a model, in order."""
    operation = steps_for(model.operation.carried, model.K)
    steps = model.K // operation.length
    if operation.structure.is_integer:
        from cosim.coverage.idpa import integer_groups  # floats do without

        return tuple(integer_groups(operation, steps))
    a, b = model.operation.a, model.operation.b
    operands = [*operand_groups(operation, steps, a, b), *special_groups(operation)]
    further = multiply_add_groups(operation) if operation.structure.widened is not None else []
    if isinstance(operation, ExactSum) and operation.flags:
        further.append(flag_group(operation))
    return (*operands, *sum_groups(operation, steps > 1), *rounding_groups(operation, steps > 1), *further)


def count(model: Model, operands: Operands) -> Counts:
    """Count the bins that rows of operands hit.

    Raises:
        ValueError: the native engine is not installed.
    """
    a, b = model.operation.carried_codes(operands.a, operands.b)
    seen = Seen(model.operation.carried, operands._replace(a=a, b=b))
    hits = {group.name: group.count(seen).tolist() for group in covergroups(model)}
    return Counts(model, len(operands.c), hits)


@dataclass(frozen=True)
class Bins:
    """The bins of a covergroup, or of a whole model.

    Attributes:
        name: name of the covergroup. bins: number of bins. unreachable: number of bins declared unreachable.
        missed: names of the reachable bins without a hit.
        contradicted: names of the bins that were declared unreachable and hit, with the reason that does not hold.
    """

    name: str
    bins: int
    unreachable: int
    missed: tuple[str, ...]
    contradicted: tuple[str, ...] = ()

    @property
    def reachable(self) -> int:
        """Number of reachable bins."""
        return self.bins - self.unreachable

    @property
    def hit(self) -> int:
        """The number of reachable bins with a hit."""
        return self.reachable - len(self.missed)

    def as_dict(self) -> dict[str, Any]:
        """The coverage as plain JSON."""
        return {
            "name": self.name,
            "bins": self.bins,
            "unreachable": self.unreachable,
            "hit": self.hit,
            "missed": self.missed,
            "contradicted": self.contradicted,
        }


def results(counts: Counts) -> list[Bins]:
    """The result of each covergroup."""
    found = []
    for group in covergroups(counts.model):
        of_bins = list(zip(group.bins, group.reasons, counts.hits[group.name], strict=True))
        missed = tuple(name for name, reason, hits in of_bins if reason is None and not hits)
        contradicted = tuple(
            f"{name} (hit {hits:,} times; declared unreachable: {reason})"
            for name, reason, hits in of_bins
            if reason is not None and hits
        )
        unreachable = sum(reason is not None for reason in group.reasons)
        found.append(Bins(group.name, len(group.bins), unreachable, missed, contradicted))
    return found


def whole(counts: Sequence[Counts]) -> Bins:
    """The result of all covergroups of several models together; each bin is named with its covergroup, behind what tells its
    model from the others."""
    named = [(model, group) for model, each in zip(_told_apart(counts), counts, strict=True) for group in results(each)]
    groups = [group for _, group in named]
    missed = tuple(f"{model}{group.name}: {name}" for model, group in named for name in group.missed)
    contradicted = tuple(f"{model}{group.name}: {name}" for model, group in named for name in group.contradicted)
    bins, unreachable = sum(group.bins for group in groups), sum(group.unreachable for group in groups)
    return Bins("all", bins, unreachable, missed, contradicted)


def _told_apart(counts: Sequence[Counts]) -> list[str]:
    """For each model its keys that differ among the models, with a colon and a space; empty for a single one."""
    tables = [
        {"operation": each.model.operation.name, "K": each.model.K, **each.model.operation.parameters()} for each in counts
    ]
    keys = [
        key for key in {key: None for table in tables for key in table} if len({str(table.get(key)) for table in tables}) > 1
    ]
    found = []
    for table in tables:
        words = [str(table[key]) if key == "operation" else f"{key} = {table[key]}" for key in keys if key in table]
        found.append(f"{', '.join(words)}: " if words else "")
    return found


def report(counts: Counts) -> dict[str, Any]:
    """The coverage of a model as a table for JSON."""
    total = whole([counts]).as_dict()
    of_groups = {"covergroups": [group.as_dict() for group in results(counts)]}
    return (
        counts.model.as_dict()
        | {"rows": counts.rows}
        | {key: total[key] for key in ("bins", "unreachable", "hit", "contradicted")}
        | of_groups
    )
