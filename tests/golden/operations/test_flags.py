"""Exception flags (numerics.md, section 14): the reference against the twin and by hand, the native engine against it."""

import random
import re
import tomllib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import golden
from golden.arithmetic.flags import DZ, FLAGS, NV, NX, OF, UF
from golden.arithmetic.formats import BF16, E2M1, E2M3, E5M2, FP16, FP32, FP64
from golden.arrays import bits_dtype
from golden.operations import ADD, CVT, EFDPA, FMA, MUL, TFDPA, Operation
from golden.operations.exact_sum import ExactSum
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.golden.inputs import operands
from tests.golden.native.native_rows import needs_native
from tests.golden.rows import unit
from tests.golden.strategies import cases
from tests.twin import flags_twin, twin

NAMES = [name for name, cls in golden.OPERATIONS.items() if issubclass(cls, ExactSum)]
HALF = FMA(a=FP16, b=FP16, c=FP16)
SINGLE = FMA(a=FP32, b=FP32, c=FP32)
ENGINES = ["reference", pytest.param("native", marks=needs_native)]
INF, NAN, SNAN, ONE, MAX = 0x7C00, 0x7E00, 0x7D00, 0x3C00, 0x7BFF


def flagged(operation: Operation, a: Any, b: Any, c: int | None = None, engine: str = "reference") -> tuple[int, int]:
    dtype = {16: np.uint16, 32: np.uint32, 64: np.uint64}[operation.a.width]
    x, y = (np.array(np.atleast_1d(codes), dtype) for codes in (a, b))
    d, flags = unit(operation).dot(x, y, None if c is None else np.array(c, dtype), engine=engine, flags=True)
    assert flags.dtype == np.uint8
    return int(d), int(flags)


def flagged_cases(name: str) -> st.SearchStrategy[tuple[Any, Any]]:
    """Operations whose d has flags, and operands for them."""
    return cases(name).filter(lambda case: case[0].d.specials == "ieee" and case[0].d.subnormals)


def compare(name: str, data: st.DataObject) -> None:
    operation, drawn = data.draw(flagged_cases(name))
    note(f"{operation.name} {operation.parameters()}\n{drawn}")
    a, b, c = drawn.a, drawn.b, drawn.c
    d, flags = unit(operation).chain_over(len(a)).flagged(a, b, c)
    expected, raised = flags_twin.flagged_dot(operation, a, b, c)
    assert twin.same(operation, d, expected)
    assert flags == raised


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=80)
@given(data=st.data())
def test_flags_equal_the_twins(name: str, data: st.DataObject) -> None:
    compare(name, data)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=2000)
@given(data=st.data())
def test_flags_equal_the_twins_on_many_more(name: str, data: st.DataObject) -> None:
    compare(name, data)


@needs_native
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(data=st.data())
def test_native_flags_equal_the_references(name: str, data: st.DataObject) -> None:
    operation, first = data.draw(flagged_cases(name))
    rng = random.Random(data.draw(st.integers(0, 1 << 30)))
    rows = [first, *(operands(rng, operation, len(first.a)) for _ in range(40))]
    types = [np.dtype(f"u{form.storage_bits // 8}") for form in (operation.a, operation.b, operation.c)]
    a, b, c = (np.array([row[place] for row in rows], types[place]) for place in range(3))
    model = unit(operation)
    for got, expected in zip(
        model.dot(a, b, c, engine="native", flags=True), model.dot(a, b, c, engine="reference", flags=True), strict=True
    ):
        assert got.dtype == expected.dtype
        assert (got == expected).all(), operation.parameters()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tininess", ["after", "before"])
def test_two_results_that_become_the_smallest_normal_number_are_tiny(tininess: Any, engine: str) -> None:
    """redmule#58 and cvfpu#94: both designs leave UF out."""
    assert flagged(HALF.changed(tininess=tininess), 0x03EE, 0x3C12, 0x8000, engine) == (0x0400, NX | UF)
    assert flagged(SINGLE.changed(tininess=tininess), 0x00800000, 0x3F7FFFFF, 0, engine) == (0x00800000, NX | UF)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rules_of_tininess_differ_where_rounding_without_a_lower_end_reaches_the_normal_numbers(engine: str) -> None:
    """Below 2^-14, of which c is one, 11 bits have a last place of 2^-25: to nearest, less than half of it is lost."""
    for lost, is_tiny_after in ((2.0**-25, True), (2.0**-26, False), (2.0**-27, False)):
        terms = (FP16.encode(-(2.0**-24)), FP16.encode(lost * 2**24), FP16.encode(2.0**-14))
        assert flagged(HALF, *terms, engine) == (0x0400, NX | UF if is_tiny_after else NX)
        assert flagged(HALF.changed(tininess="before"), *terms, engine) == (0x0400, NX | UF)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_flag_alone_and_the_pairs(engine: str) -> None:
    assert flagged(HALF, ONE, ONE, ONE, engine)[1] == 0
    assert flagged(HALF, ONE, ONE, 1, engine)[1] == NX
    assert flagged(HALF, 1, ONE, 0, engine)[1] == 0  # a subnormal result that is exact
    assert flagged(HALF, 1, 1, 0, engine)[1] == NX | UF
    assert flagged(HALF, MAX, MAX, 0, engine)[1] == NX | OF
    assert flagged(HALF.changed(overflow="saturate"), MAX, MAX, 0, engine) == (MAX, NX | OF)
    assert flagged(HALF.changed(rho="RZ-FP16"), MAX, ONE, 1, engine) == (MAX, NX)  # inexact, within the range
    assert flagged(HALF, INF, 0, ONE, engine)[1] == NV
    assert flagged(HALF, INF, ONE, ONE, engine) == (INF, 0)
    assert flagged(HALF.changed(flush_results=True), 1, ONE, 0, engine) == (0, NX | UF)  # exact until it is flushed
    assert FLAGS.index("DZ") == DZ.bit_length() - 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beside_nan", ["invalid", "quiet"])
def test_invalid_operations(beside_nan: Any, engine: str) -> None:
    fma = HALF.changed(beside_nan=beside_nan)
    minus = FP16.negative_zero
    for a, b, c, flags in (
        (INF, ONE, INF | minus, NV), (INF, ONE, INF, 0), (0, INF, ONE, NV), (INF, minus, INF, NV),
        (NAN, ONE, ONE, 0), (ONE, ONE, NAN, 0), (SNAN, ONE, ONE, NV), (ONE, SNAN, NAN, NV), (0, 0, SNAN, NV),
        (INF, ONE, NAN, 0), (0, INF, NAN, NV if beside_nan == "invalid" else 0), (0, INF, SNAN, NV), (0, NAN, INF, 0),
    ):  # fmt: skip
        assert flagged(fma, a, b, c, engine)[1] == flags, (hex(a), hex(b), hex(c))
    add, mul = ADD(a=FP16, b=FP16), MUL(a=FP16, b=FP16)
    assert [flagged(add, INF, b, None, engine)[1] for b in (0, INF, INF | minus, NAN, SNAN)] == [0, 0, NV, 0, NV]
    assert [flagged(mul, INF, b, None, engine)[1] for b in (0, INF, INF | minus, NAN, SNAN)] == [NV, 0, 0, 0, NV]
    dot = EFDPA(a=FP16, b=FP16, c=FP16, L=2, rho="RNE-FP16", beside_nan=beside_nan)
    assert flagged(dot, [INF, INF | minus], [ONE, ONE], 0, engine)[1] == NV
    assert flagged(dot, [INF, INF | minus], [ONE, ONE], NAN, engine)[1] == 0
    assert flagged(dot, [INF, NAN], [0, ONE], 0, engine)[1] == (NV if beside_nan == "invalid" else 0)


@needs_native
@pytest.mark.parametrize(
    "operation",
    [
        ADD(a=E5M2, b=E5M2, rho="RU-E5M2"), ADD(a=E5M2, b=E5M2, flush_results=True), MUL(a=E5M2, b=E5M2),
        CVT(a=FP16, rho="RNE-E5M2"), CVT(a=E5M2, rho="RZ-FP16"), CVT(a=BF16, rho="RNE-FP16"), CVT(a=E2M1, rho="RNE-FP16"),
        *(EFDPA(a=E2M1, b=E2M1, c=E5M2, L=1, rho=rho) for rho in ("RNE-E5M2", "RU-E5M2", "RZ-E5M2", "RNE-FP16")),
        EFDPA(a=E2M1, b=E2M3, c=E5M2, L=1, rho="RNE-E5M2", flush_results=True),
    ],
    ids=str,
)  # fmt: skip
def test_flags_that_some_operands_raise(operation: ExactSum) -> None:
    """Of all codes of all operands."""
    formats = [getattr(operation, name) for name in operation.operands]
    codes = np.meshgrid(*(np.arange(of.codes, dtype=bits_dtype(of)) for of in formats))
    operands: Any = [each.reshape((-1,) if name == "c" else (-1, 1)) for name, each in zip("abc", codes, strict=False)]
    raised = set(unit(operation).dot(*operands, flags=True)[1].tolist()) - {0}
    found = {" ".join(name for bit, name in enumerate(FLAGS) if code >> bit & 1) for code in raised}
    assert set(operation.raised_together) == found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_chain_has_the_flags_of_all_its_steps(engine: str) -> None:
    """The first step is inexact, the second overflows, the third is invalid."""
    a, b = [FP16.encode(1 + 2**-10), MAX, INF], [FP16.encode(1 + 2**-10), MAX, INF | FP16.negative_zero]
    flags = [flagged(HALF, a[:K], b[:K], 0, engine)[1] for K in (1, 2, 3)]
    assert flags == [NX, NX | OF, NX | OF | NV]


def test_a_unit_reads_and_writes_the_keys() -> None:
    fma = FMA(a=FP64, b=FP64, c=FP64, tininess="before", beside_nan="quiet")
    assert unit_from_table(tomllib.loads(unit_to_toml(unit(fma)))).operation == fma
    assert fma.parameters().items() >= {"tininess": "before", "beside_nan": "quiet"}.items()


def test_flags_of_other_operations_are_refused() -> None:
    t_fdpa = unit(TFDPA(a=FP16, b=FP16, c=FP32, L=2, F=24, rho="RZ-FP32", e_zero=-132))
    codes, c = np.zeros(2, np.uint16), np.zeros((), np.uint32)
    whole = "flags are defined for plain steps of FMA, MUL, ADD, CVT and E-FDPA (numerics.md, section 14), not for T-FDPA"
    with pytest.raises(ValueError, match=f"^{re.escape(whole)}$"):
        t_fdpa.dot(codes, codes, c, flags=True)
    with pytest.raises(ValueError, match=r"^engine for flags must be one of reference, native; got 'cuda'$"):
        unit(HALF).dot(codes[:1], codes[:1], np.uint16(0), engine="cuda", flags=True)
    with pytest.raises(ValueError, match=r"^tininess must be one of after, before; got 'never'$"):
        HALF.changed(tininess="never")
