"""Every operator of the installed PyTorch that sums products of two tensors' elements, found by what it computes.

    python -m tests.mmau.frameworks.operator_sweep aten 0/4

An operator is tried on operands of several shapes, in double precision: each in turn, all of one shape, and drawn. An
element of a result sums products if it is linear in each of two operands and takes two pairs of their elements or more: its
second differences have rank 2. Then the operator runs in the mode, where every product is NaN, in inference mode and out of
it: these elements are NaN then, or it is refused. Each operator is tried in a process of its own, for some of PyTorch's end
theirs on operands that they do not expect.
"""

import itertools
import json
import math
import os
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, TextIO
from unittest import mock

import torch

from mmau.frameworks import torch_mode

PART = "gfx942"
"""It multiplies fp32, so that an operator is refused for what it is and not for its dtype."""

FLOATS = ((3, 3), (3,), (2, 3, 3), (1, 2, 3, 3), (1, 1, 2, 2, 2), (1, 2, 2, 2), ())
INTEGERS = ((3,), (2,), (3, 3), (1, 2, 3, 3), ())
TRIED, DRAWN, ANSWERED = 300, 500, 6
"""Calls that are tried in turn, and drawn, and after how many that PyTorch answered no more are."""

VALUES: dict[str, list[Any]] = {
    "int": [1, 0, 3], "SymInt": [1, 3], "bool": [False], "float": [1.0], "number": [1], "str": ["ij,jk->ik", "sum"],
    "List[int]": [[1], [1, 1], [3, 3], [0, 0], [1, 1, 1], [0] * 4], "List[bool]": [[True] * 3, [True] * 2],
    "List[SymInt]": [[1], [1, 1], [3, 3], [0, 0], [1, 1, 1], [0] * 4, [0] * 6, [3]], "List[number]": [[1.0, 2.0]],
}  # fmt: skip
"""The values tried for an argument that is no tensor and has no default."""

NAMED: dict[str, list[Any]] = {
    "dtype": [torch.float64, torch.int8], "reduce": ["sum"], "interpolation": ["linear"], "indexing": ["ij"],
    "quant_max": [9], "n_fft": [2],
}  # fmt: skip
"""Those of an argument of a name that is no tensor."""

MASKS = ("mask", "condition", "is_target")
"""Parts of the names of arguments that are booleans."""

WHOLE = ("indices", "offset", "index", "pivots", "lengths", "bag_size", "zero_point", "batch_sizes")
"""Parts of the names of arguments that are integers."""

Leaf = tuple[int, int | None]
"""The place of a tensor among the arguments: of the argument, and in its list."""


def operators(library: str) -> Iterator[Any]:
    """The operators that take two tensors or more, write none of them, and have a kernel on CPUs."""
    names = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    for name in sorted(name for name in names if name.startswith(f"{library}::")):
        packet = getattr(getattr(torch.ops, library), name.partition("::")[2])
        for overload in packet.overloads():
            operator = getattr(packet, overload)
            if takes_tensors(operator) and has_kernel(operator):
                yield operator


def takes_tensors(operator: Any) -> bool:
    arguments = operator._schema.arguments
    if any(a.is_out or (a.alias_info and a.alias_info.is_write) for a in arguments):
        return False
    return sum("Tensor" in str(a.type) for a in arguments) > 1 or any("List[Tensor]" in str(a.type) for a in arguments)


def has_kernel(operator: Any) -> bool:
    composite = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    try:
        return any(torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), key) for key in ("CPU", *composite))
    except RuntimeError:  # a name for the compiler of scripts alone
        return False


def choices(argument: Any) -> list[Any]:
    """The values tried for an argument: None, a value, or a tensor's shape after its kind."""
    kind = str(argument.type)
    is_optional, kind = kind.startswith("Optional"), kind.removeprefix("Optional[").removesuffix("]")
    if kind == "Tensor":
        if any(word in argument.name for word in MASKS):
            return [*([None] if is_optional else []), ("mask", (3, 3)), ("mask", (3,))]
        floats: list[Any] = [("float", shape) for shape in FLOATS]
        integers = [("integer", shape) for shape in INTEGERS]
        if any(word in argument.name for word in WHOLE):
            return [*([None] if is_optional else []), *integers]
        return [None, *floats[:3]] if is_optional else [*floats, *integers]
    if str(argument.type) in ("List[Tensor]", "List[Optional[Tensor]]"):
        return [[("float", shape)] * 2 for shape in ((3, 3), (3,), ())] + [[("integer", (3,))]]
    if argument.name in NAMED and not argument.has_default_value():
        return NAMED[argument.name]
    if argument.has_default_value():
        return [argument.default_value]
    return VALUES.get(str(argument.type), [None] if is_optional else [])


def drawn(per_argument: list[list[Any]], rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """Choices for all arguments, most of its tensors of one shape, some of numbers from 0 to 1."""
    if not all(per_argument):
        return
    for _ in range(DRAWN):
        alike, kind = ("float", rng.choice(FLOATS)), rng.choice(("float", "unit"))
        chosen = [alike if alike in c and rng.random() < 0.6 else rng.choice(c) for c in per_argument]
        yield tuple((kind, c[1]) if isinstance(c, tuple) and c[0] == "float" else c for c in chosen)


def made(choice: Any, rng: Any) -> Any:
    match choice:
        case ("float", shape):
            return torch.randn(shape, generator=rng, dtype=torch.float64)
        case ("unit", shape):
            return torch.rand(shape, generator=rng, dtype=torch.float64)
        case ("integer", shape):
            return torch.arange(math.prod(shape)).reshape(shape) % 3
        case ("mask", shape):
            return torch.arange(math.prod(shape)).reshape(shape) % 2 == 0
        case [*several] if several and isinstance(several[0], tuple):
            return [made(one, rng) for one in several]
        case _:
            return choice


def result(operator: Any, arguments: list[Any]) -> Any:
    """Every number of floating point in a call's results, one after the other; None for none."""
    names = operator._schema.arguments
    plain = [a for a, named in zip(arguments, names, strict=True) if not named.kwarg_only]
    keys = {named.name: a for a, named in zip(arguments, names, strict=True) if named.kwarg_only}
    leaves = torch.utils._pytree.tree_leaves(operator(*plain, **keys))
    found = [
        x.reshape(-1).double()
        for x in leaves
        if isinstance(x, torch.Tensor) and x.is_floating_point() and x.layout == torch.strided and not x.is_quantized
    ]
    return torch.cat(found) if found else None


def places(arguments: list[Any]) -> list[Leaf]:
    """Where tensors of floating point with several elements are."""
    lists = [(i, j, x) for i, a in enumerate(arguments) if isinstance(a, list) for j, x in enumerate(a)]
    found = [(i, None, a) for i, a in enumerate(arguments)] + lists
    return [(i, j) for i, j, x in found if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel() > 1]


def taken(arguments: list[Any], leaf: Leaf) -> Any:
    return arguments[leaf[0]] if leaf[1] is None else arguments[leaf[0]][leaf[1]]


def placed(arguments: list[Any], leaf: Leaf, x: Any) -> list[Any]:
    i, j = leaf
    new = x if j is None else [x if n == j else y for n, y in enumerate(arguments[i])]
    return [new if n == i else y for n, y in enumerate(arguments)]


def sums_products(operator: Any, arguments: list[Any], rng: Any) -> Any:
    """Which elements of the result sum products of two operands' elements; None where the result has no floats."""
    base = result(operator, arguments)
    if base is None or not len(base) or not base.isfinite().all():
        return None
    found = torch.zeros(len(base), dtype=torch.bool)
    for p, q in itertools.combinations(places(arguments), 2):
        x, y = taken(arguments, p), taken(arguments, q)

        def moved(u: Any, v: Any, p: Leaf = p, q: Leaf = q, x: Any = x, y: Any = y) -> Any:
            return result(operator, placed(placed(arguments, p, x + u), q, y + v))

        u, v = (torch.randn(z.shape, generator=rng, dtype=torch.float64) for z in (x, y))
        some = [moved(u, 0 * v), moved(0 * u, v), moved(u, v), moved(2 * u, 0 * v), moved(0 * u, 2 * v)]
        if any(z is None or z.shape != base.shape for z in some):
            continue
        least = 1e-9 * sum(z.abs().max() for z in (base, *some))
        if (some[2] - some[0] - some[1] + base).abs().max() < least:
            continue
        is_linear = ((some[3] - 2 * some[0] + base).abs() < least) & ((some[4] - 2 * some[1] + base).abs() < least)
        if is_linear.any():
            units = [torch.eye(z.numel(), dtype=torch.float64).reshape(-1, *z.shape) for z in (x, y)]
            by_y = [moved(0 * u, e) for e in units[1]]
            rows = []
            for d in units[0]:
                by_x = moved(d, 0 * v)
                rows.append(torch.stack([moved(d, e) - by_x - z + base for e, z in zip(units[1], by_y, strict=True)]))
            second = torch.stack(rows).permute(2, 0, 1)
            found |= is_linear & (torch.linalg.matrix_rank(second, atol=100 * float(least)) > 1)
    return found


def poisoned(instruction: Any, a: Any, b: Any, *_: Any, **__: Any) -> Any:
    """The product in the place of golden's."""
    return torch.full((a.shape[0], b.shape[1]), float("nan"), dtype=a.dtype)


def in_mode(operator: Any, arguments: list[Any], sums: Any, inference: bool) -> str:
    """The outcome of a call in the mode: `computed`, `refused`, `leaks`, or an error of another kind."""
    single = torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x.float() if x.is_floating_point() else x, arguments)
    try:
        with torch.inference_mode() if inference else nullcontext(), torch_mode.on(PART):
            d = result(operator, single)
    except ValueError as refusal:
        return "refused" if f"cannot be computed as on {PART}" in str(refusal) else f"fails: {refusal}"
    except Exception as error:
        return f"fails: {error}"
    return "computed" if d[sums].isnan().all() else "leaks"


def tried(operator: Any) -> set[str]:
    """The outcome of an operator's calls: `unreached` where PyTorch answered none, `none` where none sums products."""
    rng = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    per_argument = [choices(argument) for argument in operator._schema.arguments]
    alike = [c for c in zip(*per_argument, strict=False) if len(per_argument) > 3]
    in_turn = itertools.islice(itertools.product(*per_argument), TRIED)
    answered, verdicts = 0, set()
    for chosen in itertools.chain(alike, in_turn, drawn(per_argument, random.Random(str(operator)))):
        arguments = [made(choice, rng) for choice in chosen]
        try:
            sums = sums_products(operator, arguments, rng)
        except Exception:  # operands that it does not take
            continue
        answered += 1
        if sums is not None and sums.any():
            verdicts |= {in_mode(operator, arguments, sums, inference) for inference in (False, True)}
        if answered == ANSWERED:
            break
    return verdicts or {"none" if answered else "unreached"}


def apart(operator: Any) -> set[str]:
    """`tried` in a process of its own; `unreached` where it ends that."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, json.dumps(sorted(tried(operator))).encode()[:4096])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return set(json.loads(text)) if text else {"unreached"}


def main(library: str, part: str) -> None:
    """Print a line of JSON for each operator of a part of a library: its name and what became of it."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    index, count = (int(number) for number in part.split("/"))
    with only_ours() as lines, mock.patch.object(torch_mode, "multiply", poisoned):
        for operator in list(operators(library))[index::count]:
            print(json.dumps([str(operator), sorted(apart(operator))]), file=lines, flush=True)


def only_ours() -> TextIO:
    """Standard output, of which the operators' libraries no longer know: what they print there goes to standard error.

    MKL prints an empty line and a message when LAPACK refuses an argument.
    """
    ours = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return ours


if __name__ == "__main__":
    main(*sys.argv[1:])
