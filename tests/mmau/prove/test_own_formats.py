"""Datapaths of units with formats of their own are proved, and a wrong one is not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from amaranth import Const, Module, Mux, Value, signed

from golden import Format, Implementation
from golden.arithmetic.coded_format import CodedFormat, IntegerElement
from golden.arithmetic.conversion import Conversion
from mmau.prove.design_proof import prove
from rtl.datapath.fused_records import Code
from rtl.datapath.step import Build
from rtl.designs.unit_design import UnitDesign
from rtl.operations.idpa import IDPADatapath, IntegerTotal
from rtl.steps.decode import Decode, Subnormals
from rtl.steps.encode import Encode
from rtl.steps.interfaces import Operand
from rtl.steps.scale import ScaleSpecial, Scaling
from tests.golden.units.own_formats import TEXTS, own_unit

WIDE = ("biases", "fnuz by mode")
"""Units whose exact sums are too wide to be proved while a test waits."""

OTHERS = Implementation(
    encoding="sign-magnitude", result_exp="parallel", normaliser="narrowing", rounder="compound", leading_zeros="anticipate"
)


@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name in TEXTS if name not in WIDE])
def test_datapath_is_proved(name: str) -> None:
    assert prove(UnitDesign(own_unit(name)), seconds=300).verdict == "proved"


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in TEXTS if name not in WIDE])
def test_datapath_of_other_circuits_is_proved(name: str) -> None:
    unit = replace(own_unit(name), implementation=OTHERS)
    assert prove(UnitDesign(unit), seconds=300).verdict == "proved"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_decoder_without_infinities_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Decode.__init__

    def without(self: Decode, operand: Format, subnormals: Subnormals = "kept") -> None:
        made(self, replace(operand, specials="fnuz") if operand.specials == "p3109" else operand, subnormals)

    monkeypatch.setattr(Decode, "__init__", without)
    assert prove(UnitDesign(own_unit("p3109 saturates")), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
@pytest.mark.parametrize("name", ["products under e5m2", "groups under fp16"])
def test_scales_without_their_sign_are_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scaling, "signed", lambda self, sign: sign)
    assert prove(UnitDesign(own_unit(name)), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
@pytest.mark.parametrize("name", ["weights under fp16", "groups of a under ue4m3"])
def test_scale_of_one_side_without_its_exponent_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scaling, "exp", lambda self: Const(0, signed(2)))
    assert prove(UnitDesign(own_unit(name)), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_infinite_scales_as_numbers_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As fn, whose NaN is the largest code alone, the infinities of e5m2 are numbers."""
    made = ScaleSpecial.__init__

    def without(self: ScaleSpecial, scale: Format, sides: Sequence[str]) -> None:
        made(self, scale, sides)
        self.scale = replace(scale, specials="fn")

    monkeypatch.setattr(ScaleSpecial, "__init__", without)
    assert prove(UnitDesign(own_unit("products under e5m2")), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_table_with_one_wrong_value_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Decode.__init__

    def wrong(self: Decode, operand: Format, subnormals: Subnormals = "kept") -> None:
        made(self, operand, subnormals)
        if isinstance(operand, CodedFormat):
            self.operand = replace(
                operand, carried=(*operand.carried[:0x41], operand.carried[0x40], *operand.carried[0x42:])
            )

    monkeypatch.setattr(Decode, "__init__", wrong)
    assert prove(UnitDesign(own_unit("hif8")), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_integers_in_ones_complement_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def inverted(m: Module, fmt: IntegerElement, code: Value, x: Operand) -> None:
        negative = code[-1]
        m.d.comb += [x.sign.eq(negative), x.exp.eq(fmt.e_min), x.sig.eq(Mux(negative, ~code, code)), x.zero.eq(~code.any())]

    monkeypatch.setattr("rtl.steps.decode.decode_integer", inverted)
    assert prove(UnitDesign(own_unit("mxint8")), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_sums_that_wrap_in_place_of_saturating_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def wraps(self: IDPADatapath, build: Build, total: IntegerTotal) -> Code:
        return Code(total.total[: self.operation.d.width])

    monkeypatch.setattr(IDPADatapath, "encode", wraps)
    assert prove(UnitDesign(own_unit("int16 sums")), seconds=300).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_result_with_a_negative_zero_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative sum that rounds to zero keeps its sign, which is the NaN of such a format."""
    made = Encode.__init__

    def signed(self: Encode, rho: Conversion, *rest: Any) -> None:
        made(self, replace(rho, rounding_format=replace(rho.rounding_format, specials="fn"), d=rho.d, dropped_bits=0), *rest)

    monkeypatch.setattr(Conversion, "__post_init__", lambda self: None)
    monkeypatch.setattr(Encode, "__init__", signed)
    assert prove(UnitDesign(own_unit("add")), seconds=300).verdict == "refuted"
