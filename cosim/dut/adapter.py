"""The part of the wrapper that turns a design's protocol into a plain one, so that benches and proofs need not know it.

It takes the operands of a whole result at once, as the reference has them, and hands them to the design as its description
says: transfer by transfer, at `start`, or each operand with its own handshake. While it does not offer them, the design's
ports hold their inverse, or in a proof anything. It gives the design's result, or the parts of it together, as one.

A proof knows the signals of each protocol, so its adapter only counts transfers and gathers the parts of a result. The
operands of a result stay outside until its last transfer is taken, and whoever offers them pauses where it will.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cosim.dut.connection import Operand, PortMismatch
from cosim.dut.description import EACH, INPUT_SIGNALS, START_DONE, Dut
from cosim.dut.sequence import Matrix
from rtl.designs.ports import OPERANDS

NOISE = 16
"""Bits of the shift register that draws pauses; its period is 2^16 - 1 cycles."""

IN_FLIGHT = 256
"""Most transfers whose results have not come, of a design that gives a result for each."""

PAUSES = ("1'b0", "noise[{bit}]", "&noise[{bit} +: 2]", "|noise[{bit} +: 3]")
"""The pauses of a side in four stretches of 256 cycles, in turn: none, in half of the cycles, in a quarter, in most."""

LONG = "cycles[11:6] == 6'd45"
"""The cycles of a long pause: 64 of every 4,096."""


def inner_operands(dut: Dut, operands: Sequence[Operand], is_simulated: bool = True) -> list[Operand]:
    """The operands of one transfer of the design, and a part of its result.

    Args:
        operands: of the whole result. is_simulated: whether the adapter is that of a simulation.

    Raises:
        PortMismatch: an operand that has no handshake, where each has one.
    """
    shape, found = dut.matrix or Matrix(), []
    longest = 1 if dut.beats is None else max(dut.beats.counts)
    length = next(each.count for each in operands if each.name == "a") // (shape.rows * longest)
    if dut.protocol == EACH:
        without = [
            each.name
            for each in operands
            if each.name in "abc" and each.direction == "input" and each.width and f"{each.name}_valid" not in dut.ports
        ]
        if without:
            name = without[0]
            raise PortMismatch(
                f'{dut.top}: {name} needs a handshake of its own: [ports] {name}_valid = "…", {name}_ready = "…"'
            )
    for each in operands:
        if each.name == "format" or not each.is_in_design:
            continue
        in_beats = each.name in ("a", "b", "scale_a", "scale_b") or (not each.is_shared and each.name not in OPERANDS)
        parts = longest if in_beats else shape.parts if each.name == "d" else 1
        order = None if dut.matrix is None or (parts > 1 and each.name == "d") else shape.order(each.name, length)
        found.append(
            replace(each, count=each.count // parts, order=order, within=None if dut.adapts(is_simulated) else each.within)
        )
    return found


def idle_bits(dut: Dut, inner: Sequence[Operand]) -> int:
    """The bits of all operands of one transfer and of its marks: of what their ports hold in a proof while nothing is
    offered."""
    return sum(each.count * each.width for each in inner if each.direction == "input") + len(_idle_marks(dut))


def _idle_marks(dut: Dut) -> list[str]:
    """The marks that mean nothing while in_valid is 0; without in_valid they are its only sign."""
    return [name for name in ("first", "last") if name in dut.signals and "in_valid" in dut.signals]


def adapter(dut: Dut, outer: Sequence[Operand], inner: Sequence[Operand], is_simulated: bool) -> Iterator[str]:
    """The lines of the adapter, between ports of the wrapper and nets `inner_…`.

    Args:
        outer, inner: operands of the whole result, and of one transfer.
        is_simulated: whether it pauses between transfers, and between parts of a result, by itself; that of a proof does
            not, but with `[beats]` it has an input `idle`, what ports hold that offer nothing, and where parts of a result
            wait until they are taken, it shows each, and an output `is_whole` tells the last.
    """
    yield "  /* verilator lint_off WIDTH */"
    yield from _Adapter(dut, outer, inner, is_simulated).lines()
    yield "  /* verilator lint_on WIDTH */"


class _Adapter:
    def __init__(self, dut: Dut, outer: Sequence[Operand], inner: Sequence[Operand], is_simulated: bool) -> None:
        self._dut, self._beats, self._timing = dut, dut.beats, dut.timing
        self._outer, self._inner = {each.name: each for each in outer}, {each.name: each for each in inner}
        self._given = [each for each in inner if each.direction == "input" and each.width]
        self._handshaken = [each.name for each in self._given if each.name in "abc"]
        self._marked = "in_valid" in dut.signals or dut.protocol in (START_DONE, EACH)
        self._is_simulated, self._held_in = is_simulated, "held_" if is_simulated else ""
        self._format = self._outer.get("format")
        self._takes_ready = "out_ready" in self._timing.controls
        self._shows_parts = dut.has_waiting_parts and not is_simulated
        self._whole = f"  {'assign' if self._shows_parts else 'wire'} is_whole"

    def lines(self) -> Iterator[str]:
        """The text, in order."""
        for each in (*self._given, *(each for each in self._inner.values() if each.direction == "output")):
            yield f"  logic [{each.count * each.width - 1}:0] inner_{each.name};"
        for name in self._dut.signals:
            yield f"  logic inner_{name};"
        if not self._is_simulated and self._beats is None:
            yield from self._passed()
            yield from self._results()
            return
        if self._is_simulated:
            yield from self._held()
            yield from self._pausing()
        yield from self._sending()
        yield from self._operands()
        yield from self._results()

    def _register(self, name: str, width: int, start: int | None = 0) -> str:
        """A register; without a reset it has an initial value."""
        starts = f" = {start}" if start is not None and self._dut.reset is None else ""
        return f"  logic {f'[{width - 1}:0] ' if width > 1 else ''}{name}{starts};"

    def _clocked(self, resets: Mapping[str, str], *body: str) -> Iterator[str]:
        """A clocked block, which a disabled design stops too."""
        edge = " or posedge rst" if self._timing.reset == "asynchronous" else ""
        yield f"  always_ff @(posedge clk{edge})"
        if self._timing.reset != "none":
            yield f"    if (rst) begin {' '.join(f'{name} <= {value};' for name, value in resets.items())} end else"
        yield f"    if (1'b1{self._enabled}) begin"
        yield from (f"      {line}" for line in body)
        yield "    end"

    @property
    def _enabled(self) -> str:
        """A further condition of a clocked block."""
        return " & en" if self._timing.enable else ""

    def _passed(self) -> Iterator[str]:
        """Operands and signals as they are, but for those of the result."""
        for each in self._given:
            pitch = self._outer[each.name].pitch
            for k in range(each.count):
                place, outside = f"{k * each.width} +: {each.width}", f"{k * pitch} +: {each.width}"
                yield f"  assign inner_{each.name}[{place}] = {each.name}[{outside}];"
        for name in self._dut.signals:
            if name not in ("out_valid", "out_ready", "done"):
                yield f"  assign inner_{name} = {name};" if name in INPUT_SIGNALS else f"  assign {name} = inner_{name};"

    def _held(self) -> Iterator[str]:
        """The operands of the result that is under way."""
        outer = [self._outer[each.name] for each in self._given]
        for each in outer:
            yield f"  logic [{each.count * each.pitch - 1}:0] held_{each.name};"
        if self._format is not None:
            yield f"  logic [{self._format.width - 1}:0] held_format;"
        yield "  wire takes = in_valid & in_ready;"
        names = [each.name for each in outer] + (["format"] if self._format else [])
        yield f"  always_ff @(posedge clk) if (takes{self._enabled}) begin"
        yield from (f"      held_{name} <= {name};" for name in names)
        yield "    end"

    def _pausing(self) -> Iterator[str]:
        """The pauses within a result, which the bench does not know: drawn by a shift register, in stretches."""
        sides = self._handshaken if self._dut.protocol == EACH else ["all"]
        if not self._marked:
            yield from (f"  wire pauses_{side} = 1'b0;" for side in sides)
            sides = []
        if self._dut.has_waiting_parts:
            sides = [*sides, "parts"]
        if not sides:
            return
        yield f"  logic [{NOISE - 1}:0] noise = 16'hace1;"
        yield "  logic [11:0] cycles = 0;"
        yield "  always_ff @(posedge clk) begin"
        yield "    noise <= {noise[14:0], noise[15] ^ noise[13] ^ noise[12] ^ noise[10]};"
        yield "    cycles <= cycles + 1'b1;"
        yield "  end"
        for number, side in enumerate(sides):
            drawn = [each.format(bit=4 * number) for each in PAUSES]
            chosen = f"cycles[9] ? (cycles[8] ? {drawn[3]} : {drawn[2]}) : (cycles[8] ? {drawn[1]} : {drawn[0]})"
            yield f"  wire pauses_{side} = {LONG} || ({chosen});"

    def _sending(self) -> Iterator[str]:
        """Which operands are offered, and when the next result's may come."""
        if self._dut.protocol == EACH:
            yield from self._each_by_itself()
            return
        beats, before = self._beats, None if self._beats is None else self._beats.before
        counts = (1,) if beats is None else beats.counts
        last = " : ".join(
            [f"{self._held_in}format == {number} ? {count - 1}" for number, count in enumerate(counts[:-1])]
            + [str(counts[-1] - 1)]
        )
        width = max(1, (max(counts) - 1).bit_length())
        interval = 1 if beats is None else beats.interval
        drains = self._dut.protocol == START_DONE or before is not None
        bits = {"busy": 1, "fed": 1, "offered": 1, "prepared": 1, "beat": width, "wait_left": max(1, interval.bit_length())}
        after = {
            "busy": "busy <= takes | (busy & ~over);",
            "fed": f"fed <= {'(fed | ends) & ~over' if drains else '0'};",
            "offered": "offered <= shows & ~goes;",
            "prepared": f"prepared <= {'~takes & (prepared | may) & busy & ~over' if before else '0'};",
            "beat": "if (takes) beat <= 0; else if (goes) beat <= is_final ? 0 : beat + 1'b1;",
            "wait_left": f"wait_left <= goes ? {interval - 1} : wait_left == 0 ? 0 : wait_left - 1'b1;",
        }
        if not self._is_simulated:
            del after["busy"], after["offered"]
            after["prepared"] = f"prepared <= {'(prepared | may) & ~over' if before else '0'};"
            after["beat"] = "if (goes) beat <= is_final ? 0 : beat + 1'b1;"
        yield from (self._register(name, bits[name]) for name in after)
        yield f"  wire [{width - 1}:0] final_beat = {last};"
        yield "  wire is_final = beat == final_beat;"
        offers = "busy & ~fed & (wait_left == 0) & (offered | ~pauses_all)"
        yield f"  wire may = {offers if self._is_simulated else 'in_valid & ~fed & (wait_left == 0)'};"
        yield f"  wire shows = may{' & prepared' if before else ''};"
        ready = {"in_ready": " & inner_in_ready", "busy": " & ~inner_busy"}
        yield f"  wire goes = shows{''.join(text for name, text in ready.items() if name in self._dut.signals)};"
        yield "  wire ends = goes & is_final;"
        taken = f"{' & out_ready' if self._takes_ready else ''}{' & is_whole' if self._shows_parts else ''}"
        leaves = f"out_valid{taken} & (fed | ends)"
        yield f"  wire over = {leaves if drains else 'ends'};"
        begins = f"~busy{'' if drains else ' | ends'}"
        yield f"  assign in_ready = {begins if self._is_simulated else 'ends'};"
        signal = {"start": "goes", "in_valid": "shows", "first": "shows & (beat == 0)", "last": "shows & is_final"}
        marks, beside = _idle_marks(self._dut), idle_bits(self._dut, list(self._inner.values()))
        for number, name in enumerate(marks):
            value = {"first": "beat == 0", "last": "is_final"}[name]
            other = f"~({value})" if self._is_simulated else f"idle[{beside - len(marks) + number}]"
            signal[name] = f"shows ? {value} : {other}"
        for name in self._dut.signals:
            if name in signal:
                yield f"  assign inner_{name} = {signal[name]};"
            elif name == before:
                yield f"  assign inner_{name} = may & ~prepared;"
        yield from self._clocked(dict.fromkeys(after, "0"), *after.values())

    def _each_by_itself(self) -> Iterator[str]:
        """A handshake for each operand: they are offered in any order, each until it is taken."""
        names = self._handshaken
        yield self._register("busy", 1)
        for name in names:
            yield from (self._register(f"{what}_{name}", 1) for what in ("gone", "offered"))
            yield f"  assign inner_{name}_valid = busy & ~gone_{name} & (offered_{name} | ~pauses_{name});"
            yield f"  wire goes_{name} = inner_{name}_valid & inner_{name}_ready;"
        yield f"  wire ends = busy & {' & '.join(f'(gone_{name} | goes_{name})' for name in names)};"
        yield "  assign in_ready = ~busy | ends;"
        yield from self._clocked(
            {"busy": "0"} | {f"{what}_{name}": "0" for name in names for what in ("gone", "offered")},
            "busy <= takes | (busy & ~ends);",
            *(f"gone_{name} <= ~ends & (gone_{name} | goes_{name});" for name in names),
            *(f"offered_{name} <= inner_{name}_valid & ~goes_{name};" for name in names),
        )

    def _operands(self) -> Iterator[str]:
        """The design's operand ports: those of a transfer which is offered, else the inverse, or in a proof anything."""
        before, idle = None if self._beats is None else self._beats.before, 0
        for each in self._given:
            whole = self._outer[each.name]
            shown = "may" if before and each.is_shared else "shows"
            if self._dut.protocol == EACH:
                shown = f"inner_{each.name}_valid" if each.name in self._handshaken else "busy"
            elif self._dut.protocol == START_DONE:
                shown = "shows | fed" if self._dut.hold_operands else "shows"
            elif each.name == "c" and before == "load":
                shown = "may & ~prepared"
            elif each.name == "c" and self._beats is not None:
                shown = "shows & (beat == 0)"
            yield f"  wire shown_{each.name} = {shown};"
            lines = self._lines_of(each.name)
            per_line = each.count // lines
            bits = f"{self._held_in}{each.name}"
            if whole.count > each.count:  # by shifts: an index beyond a vector would be undefined
                size = per_line * whole.pitch
                shifts = [f"{line} * (final_beat + 1) * {size} + beat * {size}" for line in range(lines)]
                chosen = [f"{size}'({bits} >> ({shift}))" for shift in shifts]
                bits = f"now_{each.name}"
                yield f"  wire [{each.count * whole.pitch - 1}:0] {bits} = {{{', '.join(reversed(chosen))}}};"
            for k in range(each.count):
                code = f"{bits}[{k * whole.pitch} +: {each.width}]"
                other = f"~{code}" if self._is_simulated else f"idle[{idle} +: {each.width}]"
                idle += each.width
                yield f"  assign inner_{each.name}[{k * each.width} +: {each.width}] = shown_{each.name} ? {code} : {other};"

    def _lines_of(self, operand: str) -> int:
        """Rows of A, or columns of B; of any other operand 1."""
        shape = self._dut.matrix or Matrix()
        return {"a": shape.rows, "scale_a": shape.rows, "b": shape.columns, "scale_b": shape.columns}.get(operand, 1)

    def _results(self) -> Iterator[str]:
        """The result: the design's, the last of a dot product's, or all parts of it."""
        parts = 1 if self._dut.matrix is None else self._dut.matrix.parts
        stays = self._dut.protocol == START_DONE and not self._is_simulated
        if stays:
            yield self._register("pending", 1)
            yield "  wire comes = inner_done & pending;"
        elif self._dut.protocol == START_DONE:
            yield self._register("was_done", 1)
            yield from self._clocked({"was_done": "0"}, "was_done <= inner_done;")
            yield "  wire comes = fed ? inner_done : inner_done & ~was_done & ~busy;"
        elif self._dut.protocol == "fixed-latency":
            cycles = self._dut.latency
            yield self._register("due", cycles)
            yield from self._clocked({"due": "0"}, f"due <= {'{due, ends}' if cycles > 1 else 'ends'};")
            yield f"  wire comes = due{f'[{cycles - 1}]' if cycles > 1 else ''};"
        else:
            yield "  wire comes = inner_out_valid;"
        yield f"  wire leaves = comes{' & inner_out_ready' if self._takes_ready else ''};"
        is_each = self._beats is not None and self._beats.results == "each"
        if is_each:
            yield from self._of_each()
        if parts > 1:
            yield from self._gathered(parts)
        else:
            whole = self._outer["d"]
            yield f"  assign d[{whole.count * whole.width - 1}:0] = inner_d;"
        for each in self._inner.values():
            if self._outer[each.name].within:
                _, low = self._outer[each.name].outside(0, each.width)
                yield f"  assign d[{low} +: {each.width}] = inner_{each.name};"
        if stays:
            yield "  assign done = inner_done & (is_whole | ~pending);"
            yield from self._clocked({"pending": "0"}, "pending <= inner_start | (pending & ~(inner_done & is_whole));")
            return
        yield f"  assign out_valid = comes{' & is_whole' if (is_each or parts > 1) and not self._shows_parts else ''};"
        if self._is_simulated and self._dut.has_waiting_parts:
            yield from self._refused()
        elif self._takes_ready:
            yield "  assign inner_out_ready = out_ready;"

    def _refused(self) -> Iterator[str]:
        """How long parts of a result wait: by pauses, or until they are shown, which must not wait for them to be taken."""
        yield from (self._register(name, 1) for name in ("waited", "patient"))
        yield from self._clocked(
            {"waited": "0", "patient": "0"},
            "waited <= comes & ~leaves;",
            "if (leaves & is_whole) patient <= cycles[9] & cycles[8];",
        )
        yield "  assign inner_out_ready = is_whole ? out_ready : patient ? waited : ~pauses_parts;"

    def _of_each(self) -> Iterator[str]:
        """Whether a result is that of the last transfer; one that belongs to none counts as such, and is surplus."""
        yield self._register("lasts", IN_FLIGHT)  # the oldest lowest: few states, for a proof
        yield self._register("entered", (IN_FLIGHT - 1).bit_length())
        yield f"{self._whole} = entered == 0 ? ~goes | is_final : lasts[0];"
        yield "  wire oldest_leaves = leaves & (entered != 0);"
        yield "  wire newest_stays = goes & ~(leaves & (entered == 0));"
        yield from self._clocked(
            {"lasts": "0", "entered": "0"},
            "if (oldest_leaves) lasts <= lasts >> 1;",
            "if (newest_stays) lasts[entered - oldest_leaves] <= is_final;",
            "entered <= entered + newest_stays - oldest_leaves;",
        )

    def _gathered(self, parts: int) -> Iterator[str]:
        """All parts of d, the first in the low bits, or where d is by columns in their places."""
        part, whole = self._inner["d"], self._outer["d"]
        size, width = part.count * part.width, whole.count * whole.width
        yield f"  logic [{width - size - 1}:0] gathered;"
        yield self._register("part", (parts - 1).bit_length())
        yield f"{self._whole} = part == {parts - 1};"
        yield f"  wire [{width - 1}:0] all = {{inner_d, gathered}};"
        shape = self._dut.matrix or Matrix()
        for k, place in enumerate(shape.order("d", 0) or ()):
            yield f"  assign d[{k * whole.width} +: {whole.width}] = all[{place * whole.width} +: {whole.width}];"
        more = "" if self._is_simulated else " & ~is_whole"  # while the last part is shown, all are
        yield f"  always_ff @(posedge clk) if (leaves{more}{self._enabled}) gathered <= all[{width - 1}:{size}];"
        yield from self._clocked({"part": "0"}, "if (leaves) part <= is_whole ? 0 : part + 1'b1;")
