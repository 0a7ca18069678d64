"""CVT: conversion from one format to another (golden: operations/cvt.py)."""

from dataclasses import dataclass, replace
from typing import Any

from amaranth import Cat, Const, Value

from golden import Implementation
from golden.arithmetic.specials import quiet_nan
from golden.operations import CVT
from rtl.datapath import depths
from rtl.datapath.base import Datapath, ModeInput
from rtl.datapath.conversion import encode_result, normalise_term, result_rules
from rtl.datapath.fused_records import Code, Normalised
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import addend, decode, subnormal_inputs
from rtl.steps.interfaces import Special, Term
from rtl.steps.step_record import Record, is_code


@dataclass(frozen=True, eq=False)
class Element(Record):
    """The operand port."""

    a: Value


@dataclass(frozen=True, eq=False)
class Decoded(Record):
    """Record after step decode: a as a term, the code of a NaN result if it depends on a, and the flag NV."""

    term: Term
    special: Special
    nan: Value | None
    invalid: Value | None


class CVTDatapath(Datapath):
    """d = ρ(a): the significand moved to its place, rounded and packed; nothing is added."""

    operation: CVT

    def __init__(self, operation: CVT, implementation: Implementation, modes: ModeInput | None = None) -> None:
        self.rho, self.rules = operation.conversion, result_rules(operation, canonical=False)
        super().__init__(operation, implementation, modes)

    def operands(self) -> Element:
        return Element(self.a)

    def steps(self) -> Steps[Any, Code]:
        return (
            Steps(Step("decode", depths.DECODE, self.decode))
            .then(Step("normalise", depths.NORMALISE, self.normalise))
            .then(Step("encode", depths.encode(self.rho), self.encode))
        )

    def decode(self, build: Build, operands: Element) -> Decoded:
        """Step decode."""
        a, flags = self.operation.a, self.operation.flags
        x = decode(build, "decode_x_0", operands.a, a, subnormal_inputs(self.operation))
        term, special = addend(build, "addend", x, a, a.e_min)
        if self.operation.nar:
            special = replace(special, nan=special.nan | is_code(operands.a, a.codes >> 1))
        nan = None if self.operation.nan == "quiet" else self._converted_nan(operands.a)
        signalling = x.nan & ~operands.a[a.pad_bits + a.man_bits - 1] if a.specials == "ieee" else Const(0, 1)
        return Decoded(term, special, nan, signalling if flags else None)

    def _converted_nan(self, code: Value) -> Value:
        """The sign and the high bits of the fraction of a NaN, made quiet, in the format of d."""
        a, d, to = self.operation.a, self.rho.d, self.rho.rounding_format
        kept = min(a.man_bits, to.man_bits)
        fraction = Cat(Const(0, to.pad_bits + to.man_bits - kept), code[a.pad_bits + a.man_bits - kept :][:kept])
        sign = code[-1] if a.signed else Const(0, 1)
        return Cat(fraction, Const(0, d.width - 1 - len(fraction)), sign) | quiet_nan(to)

    def normalise(self, build: Build, decoded: Decoded) -> Normalised:
        """Step normalise; flags need two bits below the significand, at least zeros."""
        term, to = decoded.term, self.rho.rounding_format
        raises = self.rules.tininess is not None
        lacking = max(0, to.man_bits + 3 - term.format.sig_bits) if raises else 0
        shape = replace(term.format, sig_bits=term.format.sig_bits + lacking, frac=term.format.frac + lacking)
        term = replace(term, sig=Cat(Const(0, lacking), term.sig), format=shape)
        narrows = 1 + raises if self.implementation.normaliser == "narrowing" else 0
        bounded = not self.operation.flushes_results
        return Normalised(
            decoded.special, normalise_term(build, "sum", term, to, bounded, narrows), decoded.nan, decoded.invalid
        )

    def encode(self, build: Build, normalised: Normalised) -> Code:
        """Steps round and encode."""
        return encode_result(build, normalised, self.rho, self.implementation, self.rules)
