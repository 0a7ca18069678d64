"""The fused sum, in three steps: the largest exponent, alignment to it, the exact total."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const

from rtl.accumulate import Accumulate
from rtl.align import Align, Truncation
from rtl.datapath import Build
from rtl.max_exp import MaxExp
from rtl.pipeline import Bundle
from rtl.shapes import ExpRange, TermShape


@dataclass(frozen=True, kw_only=True)
class Addend:
    """One term of a fused sum: the values `<name>_sign`, `<name>_exp`, `<name>_sig`, and how they are cut.

    Attributes:
        name: of the values.
        shape: what the term can be.
        F: fractional bits it keeps at the largest exponent.
        truncation: how the rest is cut.
    """

    name: str
    shape: TermShape
    F: int
    truncation: Truncation


class AlignedSum:
    """Σ terms, each cut at the largest exponent; the total in units of 2**(<name>_exp − F), F the finest of the terms'.

    Args:
        name: prefix of the results `<name>_exp`, `<name>_sign`, `<name>_total`.
        addends: the terms.
        encoding: of negative terms inside the adder tree.
        fixed_exp: a constant that takes the place of the largest exponent: an exact sum, given enough F.
    """

    def __init__(self, name: str, addends: Sequence[Addend], encoding: str, fixed_exp: int | None = None) -> None:
        self.name, self.addends, self._encoding, self._fixed_exp = name, list(addends), encoding, fixed_exp
        # Every term bounds the largest exponent from below.
        lowest = max(addend.shape.exps.low for addend in addends)
        highest = max(addend.shape.exps.high for addend in addends)
        self.exps = ExpRange(lowest, highest) if fixed_exp is None else ExpRange(fixed_exp, fixed_exp)
        self.F = max(addend.F for addend in addends)
        #: Bits of the largest |total|.
        self.total_bits = sum(1 << (a.shape.sig_bits - a.shape.frac + self.F) for a in addends).bit_length()

    @property
    def term(self) -> TermShape:
        """The shape of the total, as a term of a further sum."""
        return TermShape(self.exps, self.total_bits, self.F)

    def max_exp(self, build: Build, values: Bundle) -> Bundle:
        """Step max_exp: adds `<name>_exp`."""
        if self._fixed_exp is not None:
            return values | {f"{self.name}_exp": Const(self._fixed_exp, self.exps.shape)}
        part = MaxExp([addend.shape.exps for addend in self.addends], self.exps)
        build.place(f"{self.name}_max_exp", part)
        exps = [values[f"{addend.name}_exp"] for addend in self.addends]
        build.m.d.comb += [getattr(part, f"exp_{k}").eq(exp) for k, exp in enumerate(exps)]
        return values | {f"{self.name}_exp": part.e_max}

    def align(self, build: Build, values: Bundle) -> Bundle:
        """Step align: the terms give way to `<name>_sign_<k>` and `<name>_aligned_<k>`."""
        names = [f"{addend.name}_{member}" for addend in self.addends for member in ("sign", "exp", "sig")]
        result = {key: value for key, value in values.items() if key not in names}
        for k, addend in enumerate(self.addends):
            part = Align(addend.shape, self.exps, addend.F, addend.truncation)
            build.place(f"{self.name}_align_{k}", part)
            build.drive(part.term, addend.name, values)
            build.m.d.comb += part.e_max.eq(values[f"{self.name}_exp"])
            finer = Const(0, self.F - addend.F)
            result |= {f"{self.name}_sign_{k}": part.sign, f"{self.name}_aligned_{k}": Cat(finer, part.aligned)}
        return result

    def accumulate(self, build: Build, values: Bundle) -> Bundle:
        """Step accumulate: the aligned terms give way to `<name>_sign` and `<name>_total`."""
        terms = [(values[f"{self.name}_sign_{k}"], values[f"{self.name}_aligned_{k}"]) for k in range(len(self.addends))]
        part = Accumulate([len(aligned) for _, aligned in terms], self.total_bits, self._encoding)
        build.place(f"{self.name}_accumulate", part)
        for k, (sign, aligned) in enumerate(terms):
            build.m.d.comb += [getattr(part, f"sign_{k}").eq(sign), getattr(part, f"aligned_{k}").eq(aligned)]
        prefixes = (f"{self.name}_sign_", f"{self.name}_aligned_")
        result = {key: value for key, value in values.items() if not key.startswith(prefixes)}
        return result | {f"{self.name}_sign": part.sign, f"{self.name}_total": part.total}


def as_term(name: str, values: Bundle) -> Bundle:
    """A sum's results renamed as the values of a term: its total is the term's sig."""
    return {f"{name}_sig" if key == f"{name}_total" else key: value for key, value in values.items()}
