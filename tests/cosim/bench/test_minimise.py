"""The first mismatch is made as small as the design's own fault allows, and shown unchanged where it cannot be."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import golden
from cosim.bench.comparison_rules import Compare
from cosim.bench.minimise import AGREES_ALONE, minimised
from cosim.bench.mismatch import Arrival, Minimised, compared_row
from cosim.bench.products import Element, Vector
from cosim.bench.stimulus import Specification, TileSpecification, specification_of
from golden import Cls, Unit
from golden.arithmetic.formats import BF16, E4M3, FP16, FP32
from golden.operations import EFDPA, STFDPA, TFDPA
from golden.stimulus.shrink import MAX_ASKED
from rtl import MultiFormatDesign, UnitDesign

T = Unit(name="t", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132))
ST = Unit(name="s", operation=STFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=2))
E = Unit(name="e", operation=EFDPA(a=BF16, b=BF16, c=FP32, L=2))

Answer = Callable[[Vector], "int | str"]
"""A design: from a vector that stands alone to its result."""


Wrong = Callable[[Vector, "int | str"], "tuple[Element, int | str] | None"]
"""The element of a result that differs, with its code; None where none does."""


def codes(value: int, width: int, count: int) -> list[int]:
    return [value >> k * width & (1 << width) - 1 for k in range(count)]


def result(unit: Unit, transfer: dict[str, int], place: int = 0) -> int:
    """golden's d of one transfer, from its packed ports."""
    operation = unit.operation
    L = operation.length
    a = codes(transfer["a"], operation.a.width, L * (place + 1))[place * L :]
    b = codes(transfer["b"], operation.b.width, L * (place + 1))[place * L :]
    c = codes(transfer["c"], operation.c.width, place + 1)[place]
    n = operation.scales_per_step
    scales = [codes(transfer[name], 8, n) if n else [] for name in ("scale_a", "scale_b")] if n else [[], []]
    return operation.step(a, b, c, scales[0], scales[1])


def first_mismatch(specification: Specification, answer: Answer, wrong: Wrong) -> Minimised:
    """A run of the design up to its first mismatch, which is minimised."""

    async def ask(vectors: Sequence[Vector]) -> list[int | str]:
        return [answer(each) for each in vectors]

    for chunk in specification.chunks(300, 3):
        for vector in chunk.vectors:
            found = wrong(vector, answer(vector))
            if found is not None:
                row = compared_row(vector.number, *found, Arrival(None, 0.0))
                return asyncio.run(minimised(ask, vector, found[0], row, Compare()))
    raise AssertionError("the design never differs")


def differs(vector: Vector, code: int | str) -> tuple[Element, int | str] | None:
    element = vector.elements[0]
    return (element, code) if code != element.products.expected[element.row] else None


def one_vector() -> tuple[Vector, Element]:
    vector = next(specification_of(UnitDesign(T)).chunks(1, 5)).vectors[0]
    return vector, vector.elements[0]


def of_unit(unit: Unit, answer: Callable[[dict[str, int]], int | str]) -> Minimised:
    return first_mismatch(specification_of(UnitDesign(unit)), lambda vector: answer(dict(vector.transfers[0])), differs)


def test_missing_product_is_one_times_one() -> None:
    small = of_unit(T, lambda sent: result(T, sent | {"a": sent["a"] & ~(0xFFFF << 32)}))
    assert small.reproduced
    assert (small.row.a, small.row.b, small.row.c) == ((0, 0, 0x3C00, 0), (0, 0, 0x3C00, 0), 0)
    assert (small.row.got, small.row.expected) == (0, 0x3F800000)
    assert "to 1, " in small.note
    assert small.asked < 2000


def test_alignment_needs_two_terms() -> None:
    """F one less shows only where a term loses the bit: two terms, both as simple as can be."""
    other = replace(T, operation=T.operation.changed(F=23))
    small = of_unit(T, lambda sent: result(other, sent))
    terms = sum(bool(p and q) for p, q in zip(small.row.a, small.row.b, strict=True)) + bool(small.row.c)
    assert small.reproduced
    assert terms == 2
    assert small.row.got != small.row.expected


def test_way_of_failing_is_kept() -> None:
    """The first mismatch is a NaN that is missed; smaller rows fail with numbers, which is another fault."""

    def answer(sent: dict[str, int]) -> int:
        d = result(T, sent)
        return 0x3F800000 if d == 0x7FFFFFFF else d ^ (d != 0)

    def nan_missed(vector: Vector, code: int | str) -> tuple[Element, int | str] | None:
        element = vector.elements[0]
        return (element, code) if element.products.expected[element.row] == 0x7FFFFFFF else None

    small = first_mismatch(specification_of(UnitDesign(T)), lambda vector: answer(dict(vector.transfers[0])), nan_missed)
    assert small.reproduced
    assert (small.row.expected, small.row.got) == (0x7FFFFFFF, 0x3F800000)


def test_scales_become_one() -> None:
    small = of_unit(ST, lambda sent: result(ST, sent) ^ (result(ST, sent) & 0x7F80_0000 != 0x7F80_0000))
    assert small.reproduced
    assert (small.row.scale_a, small.row.scale_b) == ((0x7F, 0x7F), (0x7F, 0x7F))
    assert (small.row.a, small.row.b, small.row.c) == ((0,) * 4, (0,) * 4, 0)


def test_mismatch_that_depends_on_earlier_vectors_is_not_minimised() -> None:
    """A fault of what came before: every second vector is wrong, but never a vector that stands alone."""
    count = 0

    def answer(sent: dict[str, int]) -> int:
        nonlocal count
        count += 1
        return result(T, sent) ^ (count == 3)

    small = of_unit(T, answer)
    assert not small.reproduced
    assert small.asked == 1
    assert small.note == AGREES_ALONE


def test_mismatch_that_comes_of_the_operands_before_is_not_minimised() -> None:
    """c comes a vector late: a vector alone fails the first time, and agrees when it comes again."""
    last = 0

    def answer(sent: dict[str, int]) -> int:
        nonlocal last
        late, last = last, sent["c"]
        return result(T, {**sent, "c": late})

    small = of_unit(T, answer)
    assert (small.reproduced, small.note) == (False, AGREES_ALONE)


def test_mismatch_whose_smaller_vectors_differ_only_together_is_not_minimised() -> None:
    """Wrong wherever another vector has been asked in the same batch."""
    batches: list[int] = []

    async def ask(vectors: Sequence[Vector]) -> list[int | str]:
        batches.append(len(vectors))
        first = len(batches) <= 2
        return [result(T, dict(v.transfers[0])) ^ (first or len(vectors) > 1) for v in vectors]

    vector, element = one_vector()
    row = compared_row(0, element, element.products.expected[0] ^ 1, Arrival(None, 0.0))
    small = asyncio.run(minimised(ask, vector, element, row, Compare()))
    assert (small.row, small.reproduced) == (row, True)
    assert small.note == "not minimised: smaller vectors differ only when other vectors precede them"


def test_one_of_several_results() -> None:
    """The second of two results is wrong; the first one's operands become zero."""

    def answer(vector: Vector) -> int:
        sent = dict(vector.transfers[0])
        return result(E, sent) | (result(E, sent, 1) ^ 1) << 32

    def second(vector: Vector, code: int | str) -> tuple[Element, int | str]:
        assert isinstance(code, int)
        return vector.elements[1], code >> 32

    small = first_mismatch(specification_of(UnitDesign(E), results=2), answer, second)
    assert small.reproduced
    assert (small.row.a, small.row.b, small.row.c, small.row.got) == ((0, 0), (0, 0), 0, 1)
    assert small.row.place == "result 1"


def test_format_of_a_datapath_of_several_stays() -> None:
    other = Unit(name="u", operation=TFDPA(a=BF16, b=BF16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132))
    units = (T, other)

    def answer(vector: Vector) -> int:
        sent = dict(vector.transfers[0])
        right = result(units[sent["format"]], sent)
        return right ^ (sent["format"] == 1 and FP32.decode(right).cls is not Cls.INFINITY)  # an infinity would become a NaN

    small = first_mismatch(specification_of(MultiFormatDesign(tuple(units))), answer, differs)
    assert small.reproduced
    assert small.row.products == "format 1 (u)"
    assert (small.row.a, small.row.c, small.row.got) == ((0,) * 4, 0, 1)


def test_tile_is_not_minimised() -> None:
    tile = replace(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"), m=2, n=2)

    def wrong(vector: Vector, _: int | str) -> tuple[Element, int | str]:
        element = vector.elements[0]
        return element, element.products.expected[element.row] ^ 1

    small = first_mismatch(TileSpecification(tile), lambda vector: 0, wrong)
    assert not small.reproduced
    assert (small.asked, small.note) == (0, "not minimised: only vectors of a unit can be minimised")


def test_undefined_bits_are_minimised() -> None:
    small = of_unit(T, lambda sent: "X" * 32)
    assert small.reproduced
    assert (small.row.a, small.row.c, small.row.got) == ((0,) * 4, 0, "X" * 32)


def test_design_that_stops_answering_is_not_minimised() -> None:
    vector, element = one_vector()
    row = compared_row(0, element, 1, Arrival(None, 0.0))

    async def silent(vectors: Sequence[Vector]) -> list[int | str]:
        return []

    assert not asyncio.run(minimised(silent, vector, element, row, Compare())).reproduced


def test_waived_differences_are_no_failures() -> None:
    """Another NaN is waived: a row that differs by it alone is not taken for one that fails."""

    def answer(sent: dict[str, int]) -> int:
        d = result(T, sent)
        return 0x7FC00000 if d == 0x7FFFFFFF else d

    vector, element = one_vector()
    row = replace(compared_row(0, element, 0x7FC00000, Arrival(None, 0.0)), a=(0x7E00, 0, 0, 0), expected=0x7FFFFFFF)

    async def ask(vectors: Sequence[Vector]) -> list[int | str]:
        return [answer(dict(each.transfers[0])) for each in vectors]

    assert asyncio.run(minimised(ask, vector, element, row, Compare())).reproduced
    assert not asyncio.run(minimised(ask, vector, element, row, Compare(nan="any"))).reproduced


def test_asking_ends() -> None:
    """A design that is always wrong in the same way, at the longest vector of a unit that is built."""
    longest = Unit(name="l", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=64, F=24, rho="RZ-FP32", e_zero=-132))
    small = of_unit(longest, lambda sent: result(longest, sent) ^ 1)
    assert small.asked <= MAX_ASKED
    assert (set(small.row.a), set(small.row.b), small.row.c) == ({0}, {0}, 0)
