"""The fused sum, in three steps: the largest exponent, alignment to it, the exact total."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const

from golden import Implementation
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle
from rtl.steps.accumulate import Accumulate
from rtl.steps.align import Align, Truncation
from rtl.steps.max_exp import MaxExp, PairwiseMaxExp
from rtl.steps.shapes import ExpRange, TermShape


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
        implementation: how largest exponent and total are found.
        fixed_exp: a constant that takes the place of the largest exponent: an exact sum, given enough F.
        normalised: whether the total is normalised next, so that its leading zeros may be anticipated, as `<name>_zeros`.
    """

    def __init__(
        self,
        name: str,
        addends: Sequence[Addend],
        implementation: Implementation,
        fixed_exp: int | None = None,
        normalised: bool = False,
    ) -> None:
        self.name, self.addends, self._implementation, self._fixed_exp = name, list(addends), implementation, fixed_exp
        self._pairwise = implementation.max_exp == "pairwise" and fixed_exp is None
        self._anticipates = normalised and implementation.leading_zeros == "anticipate"
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
        """Step max_exp: adds `<name>_exp`, and where it is found pairwise, every `<name>_gap_<k>`."""
        if self._fixed_exp is not None:
            return values | {f"{self.name}_exp": Const(self._fixed_exp, self.exps.shape)}
        ranges = [addend.shape.exps for addend in self.addends]
        part = PairwiseMaxExp(ranges, self.exps) if self._pairwise else MaxExp(ranges, self.exps)
        build.place(f"{self.name}_max_exp", part)
        exps = [values[f"{addend.name}_exp"] for addend in self.addends]
        build.m.d.comb += [getattr(part, f"exp_{k}").eq(exp) for k, exp in enumerate(exps)]
        gaps = {f"{self.name}_gap_{k}": getattr(part, f"gap_{k}") for k in range(len(exps))} if self._pairwise else {}
        return values | {f"{self.name}_exp": part.e_max} | gaps

    def align(self, build: Build, values: Bundle) -> Bundle:
        """Step align: the terms give way to `<name>_sign_<k>` and `<name>_aligned_<k>`."""
        names = [f"{addend.name}_{member}" for addend in self.addends for member in ("sign", "exp", "sig")]
        names += [f"{self.name}_gap_{k}" for k in range(len(self.addends))]
        result = {key: value for key, value in values.items() if key not in names}
        for k, addend in enumerate(self.addends):
            part = Align(addend.shape, self.exps, addend.F, addend.truncation, gap_given=self._pairwise)
            build.place(f"{self.name}_align_{k}", part)
            build.drive(part.term, addend.name, values)
            if self._pairwise:
                build.m.d.comb += part.gap.eq(values[f"{self.name}_gap_{k}"])
            else:
                build.m.d.comb += part.e_max.eq(values[f"{self.name}_exp"])
            finer = Const(0, self.F - addend.F)
            result |= {f"{self.name}_sign_{k}": part.sign, f"{self.name}_aligned_{k}": Cat(finer, part.aligned)}
        return result

    def accumulate(self, build: Build, values: Bundle) -> Bundle:
        """Step accumulate: the aligned terms give way to `<name>_sign`, `<name>_total` and any `<name>_zeros`."""
        terms = [(values[f"{self.name}_sign_{k}"], values[f"{self.name}_aligned_{k}"]) for k in range(len(self.addends))]
        widths, how = [len(aligned) for _, aligned in terms], self._implementation
        part = Accumulate(widths, self.total_bits, how.encoding, how.reduction, self._anticipates)
        build.place(f"{self.name}_accumulate", part)
        for k, (sign, aligned) in enumerate(terms):
            build.m.d.comb += [getattr(part, f"sign_{k}").eq(sign), getattr(part, f"aligned_{k}").eq(aligned)]
        prefixes = (f"{self.name}_sign_", f"{self.name}_aligned_")
        result = {key: value for key, value in values.items() if not key.startswith(prefixes)}
        zeros = {f"{self.name}_zeros": part.zeros} if self._anticipates else {}
        return result | {f"{self.name}_sign": part.sign, f"{self.name}_total": part.total} | zeros


def as_term(name: str, values: Bundle) -> Bundle:
    """A sum's results renamed as the values of a term: its total is the term's sig."""
    return {f"{name}_sig" if key == f"{name}_total" else key: value for key, value in values.items()}
