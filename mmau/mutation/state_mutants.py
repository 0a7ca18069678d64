"""Mutants of state and protocol: a wrapper around any design that gets one operand, result or signal of the handshake wrong.

The design inside stays as it is, so a user design of any origin has them too. An input `mutant` selects one, 0 none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cosim.build.sources import Sources
from golden import Format
from golden.arithmetic.formats import IntegerFormat
from mmau.mutation.schemata import SELECT, SELECT_BITS

TOP = "mmau_mutants"
"""Name of the wrapper's module; the design is its instance `sound`."""

KINDS = ("isolation", "repetition", "history", "counter", "timeout", "handshake", "stuck bit")
"""The kinds of faults of state and protocol."""

OUTPUTS = ("d", "in_ready", "out_valid")


Fault = tuple[str, str, tuple[tuple[str, str], ...]]
"""Kind, words and changes of a mutant."""


@dataclass(frozen=True)
class StateMutant:
    """One fault around a design.

    Attributes:
        number: the number that selects the mutant, from 1. kind: one of `KINDS`.
        words: what is wrong, as text.
        changes: each port that shows it, or that the design inside sees wrong, with Verilog of its value.
    """

    number: int
    kind: str
    words: str
    changes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Around:
    """The properties of a design that a wrapper needs.

    Attributes:
        widths: width of each port (bits). result: format of an element of d.
    """

    widths: Mapping[str, int]
    result: Format

    @property
    def operands(self) -> list[str]:
        """The operand ports."""
        return [name for name in self.widths if name in ("a", "b", "c", "scale_a", "scale_b")]

    def mutants(self) -> list[StateMutant]:
        """Every fault that the design's protocol allows; none of a design without a clock but stuck bits."""
        found = [*self._stuck()]
        if "clk" in self.widths:
            found += [*self._operands(), *self._results(), *self._timeouts(), *self._handshake()]
        return [StateMutant(number, kind, words, changes) for number, (kind, words, changes) in enumerate(found, 1)]

    def wrapper(self, inside: str, mutants: Sequence[StateMutant]) -> str:
        """The Verilog of the wrapper.

        Args:
            inside: the design's module, with these ports.
        """
        directions = {name: "output" if name in OUTPUTS else "input" for name in self.widths}
        ports = [f"input wire [{SELECT_BITS - 1}:0] {SELECT}"]
        ports += [f"{directions[name]} wire [{width - 1}:0] {name}" for name, width in self.widths.items()]
        links = ", ".join(f".{name}({name}_inside)" for name in self.widths)
        lines = [f"module {TOP}({', '.join(ports)});"]
        for name, width in self.widths.items():
            lines.append(f"  wire [{width - 1}:0] {name}_inside;")
        lines += [f"  {inside} sound({links});", *(self._state() if "clk" in self.widths else ())]
        for name in self.widths:
            is_output = name in OUTPUTS
            shown, sound = (name, f"{name}_inside") if is_output else (f"{name}_inside", name)
            values = [(mutant.number, value) for mutant in mutants for port, value in mutant.changes if port == name]
            chosen = "".join(f"{SELECT} == {number} ? {value} : " for number, value in values)
            lines.append(f"  assign {shown} = {chosen}{sound};")
        return "\n".join([*lines, "endmodule", ""])

    def _has(self, *names: str) -> bool:
        return all(name in self.widths for name in names)

    def _and(self, *names: str) -> str:
        """The signals that the design has, as one condition."""
        return " & ".join(name for name in names if name.removesuffix("_inside") in self.widths) or "1'b1"

    def _state(self) -> Iterator[str]:
        """The registers of the faults: the operands and the result before, and how long something lasted."""
        no = "1'b0"
        yield f"  wire take = {self._and('in_valid_inside', 'in_ready_inside', 'en')};"
        yield f"  wire give = {self._and('out_valid_inside', 'out_ready', 'en')};"
        yield f"  wire waits = {self._and('out_valid_inside', 'en')} & ~give;"
        yield f"  wire idle = ~({self._and('in_valid')}), reset = {'rst' if self._has('rst') else no};"
        yield "  reg [15:0] taken = 0, gap = 0, waited = 0;"
        yield "  reg toggle = 0, blocked = 0, after_gap = 0, after_long_gap = 0;"
        for name in self.operands:
            yield f"  reg [{self.widths[name] - 1}:0] {name}_before = 0;"
            yield f"  reg [7:0] {name}_same = 0;"
            yield f"  reg {name}_again = 0;"
        yield f"  reg [{self.result.width - 1}:0] last = 0;"
        yield "  always @(posedge clk) begin"
        yield "    toggle <= ~toggle;"
        yield "    blocked <= ~reset & (take | blocked & ~idle);"
        yield "    waited <= waits & ~reset ? waited + {15'b0, ~&waited} : 0;"
        yield "    gap <= take | reset ? 0 : gap + {15'b0, ~&gap};"
        yield "    if (take) begin"
        yield "      taken <= taken + 1;"
        yield "      after_gap <= gap >= 40;"
        yield "      after_long_gap <= gap >= 700;"
        for name in self.operands:
            yield f"      {name}_before <= {name}_inside;"
            yield f"      {name}_same <= {name} == {name}_before ? {name}_same + 1 : 0;"
            yield f"      {name}_again <= {name} == {name}_before;"
        yield "    end"
        yield f"    if (give) last <= d_inside[{self.result.width - 1}:0];"
        yield "  end"

    def _stuck(self) -> Iterator[Fault]:
        """The last bit but one of a port: every format uses it, whereas ue4m3 ignores its top bit and tf32 its low ones."""
        for name in (*self.operands, "d"):
            shown, bit = f"{name}_inside" if name == "d" else name, self.widths[name] - 2
            value = f"{shown} & ~({self.widths[name]}'d1 << {bit})"
            yield "stuck bit", f"bit {bit} of {name} is always 0", ((name, value),)

    def _operands(self) -> Iterator[Fault]:
        for name in self.operands:
            others = [other for other in self.operands if other != name]
            for kept in [*([other] for other in others), others] if len(others) > 1 else [others]:
                same = " & ".join(f"{other} == {other}_before" for other in kept)
                words = f"{name} is taken only where {' or '.join(kept)} changes"
                yield "isolation", words, ((name, f"({same} ? {name}_before : {name})"),)
            yield "repetition", f"{name} comes twice, and the result is wrong", (("d", f"d_inside ^ {name}_again"),)
        yield "repetition", "b comes 16 times, and the result is wrong", (("d", "d_inside ^ (b_same == 15)"),)

    def _results(self) -> Iterator[Fault]:
        yield "counter", "the result is wrong after 4,096 transfers", (("d", "d_inside ^ taken[12]"),)
        yield "counter", "one result in 1,024 is wrong", (("d", "d_inside ^ (taken[9:0] == 77)"),)
        width = self.result.width
        now = f"d_inside[{width - 1}:0]"
        if isinstance(self.result, IntegerFormat):
            yield "history", "a zero after a zero is wrong", (("d", f"d_inside ^ (last == 0 & {now} == 0)"),)
            return
        if self.result.specials != "ieee":
            return
        infinity, sign = f"{width}'d{self.result.infinity}", f"{width}'d{1 << width - 1}"
        is_nan, is_zero = f"(last & ~{sign}) > {infinity}", f"({now} & ~{sign}) == 0"
        yield "history", "a zero after a NaN is wrong", (("d", f"d_inside ^ ({is_nan} & {is_zero})"),)
        opposite = f"last == {infinity} & {now} == ({infinity} | {sign})"
        yield "history", "-infinity after +infinity is wrong", (("d", f"d_inside ^ ({opposite})"),)

    def _timeouts(self) -> Iterator[Fault]:
        if self._has("in_valid"):
            yield "timeout", "the result after a gap of 40 cycles is wrong", (("d", "d_inside ^ after_gap"),)
            yield "timeout", "the result after a gap of 700 cycles is wrong", (("d", "d_inside ^ after_long_gap"),)
        if self._has("out_ready"):
            zero = f"{self.widths['d']}'d0"
            yield "timeout", "a result is cleared after 64 waiting cycles", (("d", f"waited >= 64 ? {zero} : d_inside"),)
            yield "timeout", "a result is cleared after 700 waiting cycles", (("d", f"waited >= 700 ? {zero} : d_inside"),)
            yield (
                "timeout",
                "a result is withdrawn after 700 waiting cycles",
                (("out_valid", "out_valid_inside & waited < 700"),),
            )

    def _handshake(self) -> Iterator[Fault]:
        if self._has("out_valid", "rst"):
            yield "handshake", "out_valid is high during reset", (("out_valid", "out_valid_inside | rst"),)
        if self._has("out_valid", "out_ready"):
            yield "handshake", "out_valid waits for out_ready", (("out_valid", "out_valid_inside & out_ready"),)
            yield "handshake", "a waiting result toggles", (("d", "d_inside ^ (waits & toggle)"),)
        if self._has("in_valid", "in_ready"):
            words = "in_ready returns only after a cycle without in_valid"
            yield "handshake", words, (("in_ready", "in_ready_inside & ~blocked"), ("in_valid", "in_valid & ~blocked"))


def wrapped(sources: Sources, around: Around, folder: Path) -> Sources:
    """The sources of a design inside a wrapper with all its mutants, which is written into the folder."""
    file = folder / f"{TOP}.sv"
    file.write_text(around.wrapper(sources.top, around.mutants()), encoding="utf-8")
    return replace(sources, files=(*sources.files, file), top=TOP, instances={})
