"""Multiply-adds that are proved with one variable for the product on both sides, and wrong ones that must not be."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from bitwuzla import Kind, Term, TermManager

from cosim.dut.elaborate import WRAPPER
from golden import Unit, operations
from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import FORMATS
from mmau.jobs import Processes, Store
from mmau.prove.evaluation import evaluate, variables
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.yosys_json import read_circuit
from mmau.prove.specification.fma import LIFT, rounded_sum
from mmau.prove.specification.rounded_sums import Rounding, lifted
from mmau.prove.specification.step_results import Operand
from mmau.prove.specification.steps import addend, decode, multiply
from mmau.prove.user_design import asking, deciding, forms, shared_products
from mmau.prove.user_design.asking import KEPT, Answers, Limits, ask
from mmau.prove.user_design.comparisons import specified_result
from mmau.prove.user_design.deciding import Comparison, Decision, WrongForm
from mmau.prove.user_design.forms import Form
from mmau.prove.user_design.operand_cases import Case, CaseParts, IncompleteCases, cases_of, check_complete
from mmau.prove.user_design.reading import OVERLAP, READ
from mmau.prove.user_design.shared_products import FACTS, SharedProducts, proved_facts
from rtl.yosys import run_yosys

SOURCE = Path(__file__).parent / "designs" / "fma_ieee" / "fma_ieee.sv"

SMALL = FORMATS["e4m3ieee"]
"""The format of all operands: one in which a proof takes a second."""

RHO = Conversion("RNE-E4M3IEEE", "RNE", SMALL, SMALL)

RIGHT = {
    "the design": (),
    "the shift limited one early": ("EARLY_LIMIT_OF_THE_SHIFT",),
    "other factors where they do not count": ("FACTORS_WITHOUT_HIDDEN_ONE_IN_SPECIALS",),
    "wrong for a number that is no product": ("PRODUCT_OF_NO_FACTORS",),
    "factors shifted until they have no zeros in front": ("FACTORS_NORMALISED_FIRST",),
    "bits lost that no sum has with so small exponents": ("BUG_STICKY_LOST_BELOW",),
    "a multiplier of rows and full adders": ("MULTIPLIED_BY_ROWS",),
    "a multiplier of digits": ("MULTIPLIED_BY_DIGITS",),
}
"""Macros of designs that are right for all operands."""

WRONG = {
    "sticky without its lowest bit": ("BUG_STICKY_WITHOUT_THE_LOWEST_BIT",),
    "the far c four distances late": ("BUG_FAR_ONE_LATER",),
    "a deep cancellation normalised one short": ("BUG_ONE_SHORT_IN_DEEP_CANCELLATION",),
    "the limit of subnormal results one off": ("BUG_SUBNORMAL_LIMIT",),
    "ties away from zero in one binade": ("BUG_TIES_AWAY_OF_ONE_BINADE",),
    "the sign of a zero that cancels at one distance": ("BUG_SIGN_OF_A_ZERO_THAT_CANCELS",),
    "the product of other factors": ("BUG_PRODUCT_OF_OTHER_FACTORS",),
    "zeros in front of a factor counted one short": ("FACTORS_NORMALISED_FIRST", "BUG_ZEROS_COUNTED_ONE_SHORT"),
    "ones of a factor lost as it is shifted": ("FACTORS_NORMALISED_FIRST", "BUG_ONES_LOST_IN_A_LONG_SHIFT"),
    "a product of other factors in special values": (
        "FACTORS_WITHOUT_HIDDEN_ONE_IN_SPECIALS",
        "BUG_OF_A_SMALL_PRODUCT_IN_SPECIALS",
    ),
    "a digit without the one that makes it negative": ("MULTIPLIED_BY_DIGITS", "BUG_DIGIT_WITHOUT_ITS_ONE"),
    "a carry lost between two rows": ("MULTIPLIED_BY_ROWS", "BUG_CARRY_LOST_BETWEEN_ROWS"),
}
"""Macros of designs with a fault; that of small products in special values is right in a proof that shares the product where
the factors differ."""


FMA, ADDER = ("input [7:0] a, b, c, output [7:0] d", ".*"), ("input [7:0] a, c, output [7:0] d", ".b(8'h38), .*")
"""Ports around the design, and how they are connected; an adder multiplies by 1."""


@cache
def circuit(shape: tuple[str, str], *macros: str) -> Module:
    """The design, in the small format, as Yosys reads it."""
    (ports, connected), text = shape, "".join(f"`define {macro}\n" for macro in macros) + SOURCE.read_text(encoding="utf-8")
    text += f"module {WRAPPER}({ports}); fma_ieee #(.E(4), .M(3)) dut({connected}); endmodule\n"
    found = run_yosys(READ, ("circuit.json",), {"dut.sv": text, "overlap.v": OVERLAP})
    return read_circuit(WRAPPER, json.loads(found["circuit.json"])["modules"][WRAPPER])


def comparison(terms: Terms, *macros: str, shape: tuple[str, str] = FMA) -> Comparison:
    """The design with these macros beside the specification, with rows of finite operands."""
    undefined = list[Bits]()
    netlist = FlatNetlist(terms, {WRAPPER: circuit(shape, *macros)}, WRAPPER, undefined=undefined)
    anew = partial(specified, terms, shape, list(netlist.inputs.values()))
    parts = CaseParts()
    wanted = anew(parts)
    random = Random(1)
    finite = [code for code in range(SMALL.codes) if code & 0x7F < SMALL.signed_infinity(0)]
    rows = {
        port.term: np.array([random.choice(finite) for _ in range(32)], dtype=object) for port in netlist.inputs.values()
    }
    assert not undefined
    return Comparison(terms, netlist.outputs["d"], wanted, terms.differs, cases_of(terms, parts), rows, anew)


def specified(terms: Terms, shape: tuple[str, str], ports: Sequence[Bits], parts: CaseParts) -> Bits:
    """The specified code of d, its parts as an observer has them."""
    decoded = [parts.value(f"decode {k}", decode(terms, SMALL, port)) for k, port in enumerate(ports)]
    if shape == FMA:
        x = parts.term("product", *multiply(decoded[0], decoded[1], 2 * SMALL.man_bits, 2 * SMALL.e_min))
    else:
        x = parts.term("addend_x", *addend(decoded[0], SMALL, SMALL.e_min))
    c = parts.term("addend", *addend(decoded[-1], SMALL, SMALL.e_min))
    pairs = [(lifted(x[0], SMALL.man_bits + LIFT), x[1]), c]
    return rounded_sum("sum", pairs, Rounding(RHO), "specials", parts)[0]


def decided(*macros: str) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    """The verdict on a design with these macros, what is decided, and the operands that show a difference."""
    with deep_stack() as manager:
        compared = comparison(Terms(manager), *macros)
        found = compared.decision(limits())
        if found.verdict != "sometimes":
            return found.verdict, found.decided, ()
        values = evaluate([compared.got.term, compared.specified.term], found.values)
        operands = tuple(found.values[port] for port in compared.rows)
        return found.verdict, found.decided, (*operands, values[compared.got.term])


def limits() -> Limits:
    """Limits that suffice for these questions."""
    return Limits(monotonic() + 900.0, 20.0)


def multiply_add(a: int, b: int, c: int) -> int:
    """The code of a·b + c by other software: exact in float64, and rounded by ml_dtypes."""
    x, y, z = (float(np.array([code], np.uint8).view(ml_dtypes.float8_e4m3)[0]) for code in (a, b, c))
    rounded = np.array([x * y + z], np.float64).astype(ml_dtypes.float8_e4m3)
    return 0x7C if np.isnan(rounded[0]) else int(rounded.view(np.uint8)[0])


@pytest.fixture
def hard(monkeypatch: pytest.MonkeyPatch) -> None:
    """No case is decided at once: each is divided and has its product shared."""
    monkeypatch.setattr(deciding, "DIRECT", 0.0)


@pytest.mark.costly
@pytest.mark.usefixtures("hard")
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_multiply_add_is_proved(name: str) -> None:
    verdict, done, _ = decided(*RIGHT[name])
    assert verdict == "never"
    assert any(line.startswith("special values") for line in done)
    with deep_stack() as manager:
        compared = comparison(Terms(manager), *RIGHT[name])
        random = Random(2)
        for _ in range(300):
            operands = [random.randrange(SMALL.codes) for _ in range(3)]
            got = evaluate([compared.got.term], dict(zip(compared.rows, operands, strict=True)))[compared.got.term]
            assert got == multiply_add(*operands)


@pytest.mark.costly
@pytest.mark.usefixtures("hard")
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.attack("designs by hand, in prove")
def test_a_wrong_multiply_add_is_refuted(name: str, record_property: Callable[[str, object], None]) -> None:
    verdict, _, shown = decided(*WRONG[name])
    record_property("caught", "refuted" if verdict == "sometimes" else "not decided")
    assert verdict == "sometimes"
    a, b, c, got = shown
    assert got != multiply_add(a, b, c)


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.parametrize(
    ("macros", "verdict"),
    [
        ((), "never"),
        (("EARLY_LIMIT_OF_THE_SHIFT",), "never"),
        (("BUG_FAR_ONE_LATER",), "sometimes"),
        (("BUG_TIES_AWAY_OF_ONE_BINADE",), "sometimes"),
    ],
    ids=str,
)
@pytest.mark.attack("designs by hand, in prove")
def test_an_adder_is_divided_by_distance(macros: tuple[str, ...], verdict: str) -> None:
    with deep_stack() as manager:
        found = comparison(Terms(manager), *macros, shape=ADDER).decision(limits())
    assert found.verdict == verdict
    if verdict == "never":
        names = [line.partition(" ")[0] for line in found.decided]
        assert names[:2] == ["special", "a"]
        assert set(names[2:]) == {"exponents"}
        assert len(names) == 7


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.attack("designs by hand, in prove")
@pytest.mark.parametrize("left_out", [0, -1])
def test_a_distance_left_out_is_refused(left_out: int, monkeypatch: pytest.MonkeyPatch) -> None:
    divide = Case.ranges

    def without_one(case: Case) -> list[Case]:
        parts = divide(case)
        return [each for each in parts if each is not parts[left_out]]

    monkeypatch.setattr(Case, "ranges", without_one)
    with deep_stack() as manager, pytest.raises(IncompleteCases, match="not all operands are in one of the cases"):
        comparison(Terms(manager)).decision(limits())


@pytest.mark.slow
def test_parts_of_a_case_cover_it_and_half_of_them_do_not() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        whole = comparison(terms).cases[-1]
        one = whole.part(3, 3)
        for case, parts in ((whole, whole.ranges()), (whole, whole.halves()), (one, one.halves())):
            check_complete(terms, parts, case)
            for left_out in range(len(parts)):
                with pytest.raises(IncompleteCases):
                    check_complete(terms, [*parts[:left_out], *parts[left_out + 1 :]], case)
        assert [part.name for part in one.halves()] == [
            "exponents 3 apart, like signs",
            "exponents 3 apart, unlike signs",
        ]
        assert [part.halves() for part in one.halves()] == [[], []]


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.attack("designs by hand, in prove")
def test_a_second_term_of_zero_left_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The design normalises all three operands; of a zero c nothing is proved."""

    def without(self: Comparison, case: Case, limits: Limits) -> list[deciding._Part]:
        return [part for part in divide(self, case, limits) if part.case.name != "a second term of zero"]

    divide = Comparison._normal_parts
    monkeypatch.setattr(Comparison, "_normal_parts", without)
    with deep_stack() as manager, pytest.raises(IncompleteCases, match="not all operands are in one of the cases"):
        comparison(Terms(manager), "FACTORS_NORMALISED_FIRST").decision(limits())


@pytest.mark.slow
@pytest.mark.parametrize("shape", [FMA, ADDER], ids=["multiply-add", "adder"])
@pytest.mark.parametrize("normal", [frozenset[str](), frozenset({"decode 0"}), None], ids=["none", "one", "all"])
def test_the_other_forms_of_a_specification_give_its_codes(shape: tuple[str, str], normal: frozenset[str] | None) -> None:
    """Proved for all operands, in a range of distances and in all that lie above."""
    with deep_stack() as manager:
        compared = comparison(Terms(manager), shape=shape)
        assert compared.anew is not None
        for low, high in ((-5, 6), (7, 40)):
            form = Form(normalised=normal, gap=(low, high))
            again = compared.anew(form)
            assert form.read is not None
            x, y = form.summands
            gap = x.exp - y.exp
            here = ((gap >= low) & (gap <= high)).holds
            asked = [compared.differs(again, compared.specified), here, *compared.cases[-1].assumptions]
            assert ask(manager, asked, limits()).verdict == "never"
            assert ask(manager, asked[1:], limits()).verdict == "sometimes"


@pytest.mark.slow
@pytest.mark.costly(2)
@pytest.mark.parametrize(
    "keys",
    [
        {"zero": "ieee", "rho": "RD-E5M2", "flags": True},
        {},
        {"zero": "ieee", "rho": "RU-E5M2"},
        {
            "a": "e5m2",
            "b": "e4m3",
            "c": "e4m3ieee",
            "rho": "RNE-E4M3IEEE",
            "zero": "ieee",
            "flags": True,
            "tininess": "before",
        },
        {"c": "fp16", "rho": "RZ-FP16", "flush_inputs": True, "flush_results": True},
    ],
    ids=str,
)
def test_a_sum_of_one_product_and_c_has_its_codes_on_the_gap(keys: dict[str, Any]) -> None:
    """Proved for all operands, in ranges of distances, flags among the codes."""
    small: dict[str, Any] = {"a": "e3m2", "b": "e2m3", "c": "e5m2", "rho": "RNE-E5M2", "overflow": "by-mode", "L": 1}
    operation = operations.EFDPA(**small | keys)
    with deep_stack() as manager:
        terms = Terms(manager)
        ports = {name: terms.free(name, getattr(operation, name).width) for name in "abc"}
        wanted, cases, anew = specified_result(terms, Unit(name="one", operation=operation), ports)
        assert anew is not None
        whole = cases[-1]
        for low, high in ((whole.low, -6), (-5, 0), (1, 5), (6, whole.high)):
            form = Form(gap=(low, high))
            asked = [terms.differs(anew(form), wanted), *whole.part(low, high).assumptions]
            assert form.read is not None
            assert ask(manager, asked, limits()).verdict == "never"
            assert ask(manager, asked[1:], limits()).verdict == "sometimes"


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.parametrize("wrong", ["one place too few", "an exponent one too high", "a gap that does not hold"])
@pytest.mark.attack("designs by hand, in prove")
def test_a_form_that_gives_other_codes_is_refused(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong form is refused by rows; a gap that the distance may leave, by a solver."""
    right = forms.normalised

    def wrongly(operand: Operand) -> Operand:
        normal = right(operand)
        if wrong == "an exponent one too high":
            return replace(normal, exp=normal.exp + 1)
        terms, bits = normal.sig.terms, normal.sig.bits
        lost = terms.apply(Kind.BV_SHL, [bits, terms.number(1, bits.width)], bits.width)
        return replace(normal, sig=replace(normal.sig, bits=lost))

    if wrong == "a gap that does not hold":
        monkeypatch.setattr(deciding, "Form", lambda **given: Form(**given | {"gap": (-2, 2)}))
    else:
        monkeypatch.setattr(forms, "normalised", wrongly)
    with deep_stack() as manager:
        compared = comparison(Terms(manager))
        sides, case = (compared.got.term, compared.specified.term), compared.cases[-1].part(-2, 3)
        shared = SharedProducts(compared.terms, *sides, case.assumptions, compared.rows, limits())
        names = frozenset[str]() if wrong == "a gap that does not hold" else frozenset({"decode 2"})
        with pytest.raises(WrongForm):
            compared._part(case, shared, names)


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
def test_distances_are_proved_range_by_range() -> None:
    verdict, done, _ = decided()
    assert verdict == "never"
    shared = [line for line in done if line.endswith("one variable for the product on both sides")]
    assert len(shared) == len(done) > 4


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
def test_a_proof_that_was_ended_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, asked = asking.ask, list[Sequence[Term]]()

    def noted(
        manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term] = ()
    ) -> asking.Found:
        asked.append(formulas)
        return answer(manager, formulas, limits, values_of)

    monkeypatch.setattr(deciding, "ask", noted)
    counts = []
    for macros in ((), (), ("BUG_PRODUCT_OF_OTHER_FACTORS",)):
        with deep_stack() as manager, Store(tmp_path, KEPT) as store:
            found = replace(comparison(Terms(manager), *macros), ask=Answers(store)).decision(limits())
        counts.append((found.verdict, len(asked) > 0))
        asked.clear()
    assert counts == [("never", True), ("never", False), ("sometimes", True)]


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.attack("designs by hand, in prove")
@pytest.mark.parametrize(("macros", "verdict"), [((), "never"), (("BUG_FAR_ONE_LATER",), "sometimes")], ids=str)
def test_cases_are_answered_in_processes(macros: tuple[str, ...], verdict: str, tmp_path: Path) -> None:
    told = list[tuple[str, int, int]]()

    def tell(case: str, decided: int, left: Sequence[str]) -> None:
        told.append((case, decided, len(left)))

    with deep_stack() as manager, Store(tmp_path, KEPT) as store:
        compared = replace(comparison(Terms(manager), *macros), ask=Answers(store, Processes(1)))
        found = compared.decision(limits(), tell)
        assert found.verdict == verdict
        if verdict == "never":
            assert [case for case in told if not case[0]][-7:] == [("", number, 7 - number) for number in range(1, 8)]
            assert told[-1][1:] == (7, 0)
        else:
            values = evaluate([compared.got.term, compared.specified.term], found.values)
            assert multiply_add(*(values[port] for port in compared.rows)) == values[compared.specified.term]
            assert values[compared.got.term] != values[compared.specified.term]


class Silent(Processes):
    """Processes that give no answer."""

    def outcomes(self, *asked: Any) -> Any:
        yield from ()


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.attack("designs by hand, in prove")
def test_no_answer_is_no_proof(tmp_path: Path) -> None:
    with deep_stack() as manager, Store(tmp_path, KEPT) as store:
        compared = replace(comparison(Terms(manager), "BUG_TIES_AWAY_OF_ONE_BINADE"), ask=Answers(store, Silent(1)))
        assert compared.decision(Limits(monotonic() + 5.0, 1.0)).verdict != "never"


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "verdict"), [(5.0, "sometimes"), (0.0, "unknown")])
@pytest.mark.attack("designs by hand, in prove")
def test_random_operands_of_an_open_case_show_a_fault(seconds: float, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No question is answered, and no wire is matched."""
    unknown = Decision("unknown", open=("a case",))
    monkeypatch.setattr(deciding, "AIMED", seconds)
    monkeypatch.setattr(Comparison, "_at_once", lambda self, *others: unknown)
    monkeypatch.setattr(Comparison, "_by_wires", lambda self, *others: unknown)
    monkeypatch.setattr(Comparison, "_parts", lambda self, *others: [])
    with deep_stack() as manager:
        compared = comparison(Terms(manager), "BUG_TIES_AWAY_OF_ONE_BINADE")
        found = compared.decision(limits())
        assert found.verdict == verdict
        if verdict == "sometimes":
            values = evaluate([compared.got.term, compared.specified.term], found.values)
            assert values[compared.got.term] != values[compared.specified.term]
        else:
            assert set(found.open) == {"a case"}


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
def test_the_operands_of_an_open_case_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question about distance 0 is answered."""

    def at_once(self: Comparison, part: deciding._Part, *others: Any) -> Decision:
        is_hard = part.case.distance is not None and 0 in part.case.distances
        return Decision("unknown") if is_hard else answer(self, part, *others)

    answer = Comparison._at_once
    monkeypatch.setattr(Comparison, "_at_once", at_once)
    monkeypatch.setattr(Comparison, "_by_wires", lambda self, case, *others: Decision("unknown", open=(case.name,)))
    monkeypatch.setattr(deciding, "AIMED", 0.0)
    with deep_stack() as manager:
        compared = comparison(Terms(manager))
        found = compared.decision(limits())
        count = len(compared.cases[-1].distances)
    assert (found.verdict, found.distances) == ("unknown", (count - 1, count))
    names = [name.removesuffix(", 0 random operands agree") for name in found.open]
    assert names == ["exponents 0 apart, like signs", "exponents 0 apart, unlike signs"]
    assert found.count == len(found.decided) + 2


@pytest.mark.slow
@pytest.mark.usefixtures("hard")
@pytest.mark.attack("designs by hand, in prove")
def test_no_product_is_shared_where_the_factors_differ() -> None:
    """The fault in special values would not be seen if the product were shared there."""
    macros = WRONG["a product of other factors in special values"]
    with deep_stack() as manager:
        terms = Terms(manager)
        compared = comparison(terms, *macros)
        special, zero, other = compared.cases
        sides = compared.got.term, compared.specified.term
        found = {
            case.name: SharedProducts(terms, *sides, case.assumptions, compared.rows, limits()) for case in compared.cases
        }
        assert {name: shared.complete for name, shared in found.items()} == {
            special.name: False, zero.name: True, other.name: True
        }  # fmt: skip
        differs = compared.differs(compared.got, compared.specified)
        with pytest.raises(ValueError, match="are not assumed"):
            found[other.name].cut([differs], special.assumptions)
        wrongly = manager.substitute_term(differs, found[other.name]._by)
        facts = found[other.name]._facts
        assert ask(manager, [wrongly, *facts, *special.assumptions], limits()).verdict == "never"
        assert ask(manager, [differs, *special.assumptions], limits()).verdict == "sometimes"


@pytest.mark.attack("designs by hand, in prove")
def test_a_fact_about_products_that_does_not_hold_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proved_facts(4, 4, 8) == (True,) * len(FACTS)
    right = shared_products.facts

    def further(terms: Terms, x: Bits, y: Bits, product: Bits) -> list[Term]:
        below = terms.manager.mk_term(Kind.BV_ULT, [product.term, terms.number(15 * 15, 8).term])
        return [*right(terms, x, y, product), below]

    monkeypatch.setattr(shared_products, "facts", further)
    assert proved_facts.__wrapped__(4, 4, 8) == (*(True,) * len(FACTS), False)


def test_facts_hold_of_a_product_of_fewer_bits_only_where_they_are_proved() -> None:
    assert not all(proved_facts(4, 4, 7))


@pytest.mark.parametrize("operation", [operations.FMA, operations.MUL])
def test_modes_are_one_specification_only_where_they_are_one_sum(operation: type[operations.FMA]) -> None:
    """A product has no addend: the zero in its place depends on the mode, so its modes may not share it."""
    formats = dict.fromkeys(operation.operands, SMALL)
    modes = [operation(rho=f"{mode}-E4M3IEEE", **formats) for mode in ("RNE", "RD")]  # type: ignore[arg-type]
    with deep_stack() as manager:
        terms = Terms(manager)
        ports = {name: terms.free(name, SMALL.width) for name in modes[0].operands}
        mode = terms.free("mode", 2).term
        codes = [({mode: number}, each) for number, each in enumerate(modes)]
        asked = partial(specified_result, terms, Unit(name="u", operation=modes[0]), ports, codes)
        if operation is operations.MUL:
            with pytest.raises(WrongForm, match="RD-E4M3IEEE: the specification gives another result beside other modes"):
                asked()
        else:
            assert mode in variables([asked()[0].term])
