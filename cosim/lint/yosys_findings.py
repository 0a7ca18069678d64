"""Findings of Yosys in a user design, beside Verilator's: loops, clocks, undefined values, other cycles, rare conditions."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from cosim.bench.protocol import Timing
from cosim.dut.elaborate import WRAPPER
from cosim.lint.complaints import complaints_of_yosys
from cosim.lint.flat_circuit import FlatCircuit, irregular_storage
from cosim.lint.other_cycles import of_other_cycles
from cosim.lint.rare_conditions import rare_conditions
from rtl.tools import MissingTool
from rtl.yosys import LOG, YosysError, run_yosys

READ_SLANG = "read_slang --threads 1 --relax-enum-conversions"
"""The command by which Yosys reads a text. `--relax-enum-conversions` because the wrapper drives a port of an enumeration
with bits, which changes none of them. Verilator reports such conversions inside the design (`ENUMVALUE`)."""

AS_WRITTEN = (
    f"{READ_SLANG} --top {WRAPPER} dut.sv; hierarchy -check -top {WRAPPER}; proc -noopt; flatten; "
    "check -assert -force-detailed-loop-check; "
)
"""The passes after which `dut.sv` is one circuit. Conflicting drivers, undriven wires and loops are looked for (`check`)
while no pass has changed the circuit."""

SECONDS = 180.0
"""Time limit of Yosys for a report (s)."""

UNSEEN = (
    "conflicting drivers, loops, storage elements, undefined values, operands of other cycles and rare conditions were not "
    "looked for"
)

MERGED = "opt_merge t:* t:$*dff* %d;"
"""The pass after which equal conditions of a choice and of a choice around it are one. Registers stay apart: they may start
with unlike values."""

UNDEFINED = frozenset(("x", "z"))

MOST_OF_A_MEMORY = 1 << 24
"""Size of a file of `$readmemh` beyond which Yosys does not read it (bytes)."""

_LOADED = re.compile(r'(\$readmem[hb]\s*\(\s*)"([^"\n]+)"')
"""The name of a file with the contents of a memory."""


def findings_of_yosys(verilog: str, timing: Timing, folder: Path) -> list[tuple[str, list[str]]]:
    """The findings for a report on a preprocessed text: each kind with its places; one kind without places where Yosys
    is not installed, or does not read the text.

    Args:
        timing: the timing of the description. folder: where the design is simulated, for files that it loads into memories.
    """
    every = AS_WRITTEN.replace("-assert ", "")  # the first complaint does not end it
    passes = f"{every} chformal -remove; opt_expr -fine; {MERGED} opt_muxtree; opt_clean; write_json circuit.json"
    text, memories = _with_memories(verilog, folder)
    try:
        found = run_yosys(passes, ("circuit.json", LOG), {"dut.sv": text, **memories}, SECONDS)
    except MissingTool:
        return [(f"pyosys is not installed (pip install 'mmau[rtl]'): {UNSEEN}", [])]
    except YosysError as error:
        complaints = _without_folders(complaints_of_yosys(error.log) or [str(error)])
        return [(f"Yosys does not read it as one circuit, so that {UNSEEN}", complaints)]
    warnings = _without_folders(complaints_of_yosys(found[LOG]))
    circuit = _Circuit(json.loads(found["circuit.json"])["modules"][WRAPPER])
    kinds = [("Yosys warns of constructs that other tools may interpret differently", warnings)] if warnings else []
    storage = dict[str, list[str]]()
    for name, what in irregular_storage(circuit.module, is_combinational=timing.protocol == "combinational"):
        storage.setdefault(f"a storage element {what}", []).append(name)
    kinds += storage.items()
    other = of_other_cycles(circuit, timing.latency) if timing.protocol == "fixed-latency" else []
    for kind, places in (
        ("the clock goes into logic, where delays decide", circuit.clock_in_logic()),
        ("undefined values (x), which the simulation draws once, may reach results", circuit.undefined()),
        ("random vectors hardly meet what it compares or counts, and mmau prove does", rare_conditions(circuit)),
        ("a result may depend on other cycles than its own through", other),
    ):
        kinds += [(kind, places)] if places else []
    return kinds


def _with_memories(verilog: str, folder: Path) -> tuple[str, dict[str, str]]:
    """A text whose memories are loaded from files beside it, and these files, which Yosys finds in its folder."""
    files = dict[str, str]()

    def beside(match: re.Match[str]) -> str:
        path = folder / match[2]
        if not path.is_file():
            return match[0]
        if path.stat().st_size > MOST_OF_A_MEMORY:
            return f'{match[1]}"{match[2]} (over {MOST_OF_A_MEMORY:,} bytes)"'
        name = f"memory{len(files)}.txt"
        files[name] = path.read_text(encoding="utf-8", errors="replace")
        return f'{match[1]}"{name}"'

    return _LOADED.sub(beside, verilog), files


def _without_folders(complaints: Sequence[str]) -> list[str]:
    return [re.sub(r"^(?:[^\s:]*/)+", "", complaint) for complaint in complaints]


class _Circuit(FlatCircuit):
    """A flat module, with the places that its clock and its undefined values reach."""

    def clock_in_logic(self) -> list[str]:
        """The places of cells that take the clock as data."""
        clock = self.module["ports"].get("clk", {}).get("bits", [])
        return _distinct(
            self.place(cell)
            for cell in self.cells
            if any(bit in clock for port, bits in self.inputs(cell) if port not in ("CLK", "CK") for bit in bits)
        )

    def undefined(self) -> list[str]:
        """The places of cells whose results may be undefined: a choice of an undefined value, a part of a word by an index
        that may lie beyond it, a quotient."""
        used = self._used()
        found = [cell for cell in self.cells if cell["type"] != "$buf" and self._is_undefined(cell, used)]
        open_ports = [
            name
            for name, port in self.module["ports"].items()
            if port["direction"] == "output" and UNDEFINED & {*self.through(port["bits"])}
        ]
        return _distinct([*map(self.place, found), *open_ports])

    def _used(self) -> set[Any]:
        """The bits that more takes than choices without a use, or a memory as its operands of a write, which may be off."""
        choices = {bit: cell for cell in self.cells if cell["type"] == "$mux" for bit in self.outputs(cell)}
        used = {bit for port in self.module["ports"].values() for bit in self.through(port["bits"])}
        for cell in self.cells:
            left_out = ("ADDR", "DATA") if cell["type"].startswith("$memwr") else ()
            if cell["type"] != "$mux":
                used |= {bit for port, bits in self.inputs(cell) if port not in left_out for bit in bits}
        waiting = list(used)
        while waiting:
            bit = waiting.pop()
            if bit in choices:
                ports, place = dict(self.inputs(choices[bit])), choices[bit]["connections"]["Y"].index(bit)
                new = {ports["A"][place], ports["B"][place], *ports["S"]} - used
                used |= new
                waiting += new
        return used

    def _is_undefined(self, cell: Mapping[str, Any], used: Set[Any]) -> bool:
        """Whether a used bit of a cell's result may be undefined where no bit before it is."""
        ports = dict(self.inputs(cell))
        match cell["type"]:
            case "$mux" if not self._always_holds(ports["S"][0]):
                bits = zip(cell["connections"]["Y"], ports["A"], ports["B"], strict=True)
                return any({a, b} & UNDEFINED and y in used for y, a, b in bits)
            case "$pmux" if UNDEFINED & {*ports["A"]} and self._are_all_values(ports["S"]):
                return bool(UNDEFINED & {*ports["B"]})
            case "$mux":
                return bool(UNDEFINED & {*ports["B"]})
            case "$shiftx":
                last = sum(1 << place for place, bit in enumerate(ports["B"]) if bit != "0")
                return last + len(cell["connections"]["Y"]) > len(ports["A"])
            case "$div" | "$mod" | "$divfloor" | "$modfloor":
                return any(isinstance(bit, int) for bit in ports["B"])
            case "$tribuf":
                return True
            case "$memrd_v2":
                memory = self.module["memories"][cell["parameters"]["MEMID"].removeprefix("\\")]
                last = sum(1 << place for place, bit in enumerate(ports["ADDR"]) if bit != "0")
                return bool(UNDEFINED & {*ports["ADDR"]}) or last >= memory["start_offset"] + memory["size"]
            case "$memwr_v2" | "$meminit_v2" | "$meminit":
                return False
        return any(UNDEFINED & {*bits} for bits in ports.values())

    def _always_holds(self, condition: Any) -> bool:
        """Whether an index is at least a bound that none of its values is below."""
        cell = self.driver.get(condition)
        if cell is None or cell["type"] != "$ge":
            return False
        signed = int(str(cell["parameters"]["A_SIGNED"]), 2) == 1
        words = [bits for port, bits in self.inputs(cell) if port in ("A", "B")]
        lowest, bound = (_lowest(word, signed) for word in words)
        return all(bit in ("0", "1") for bit in words[1]) and lowest >= bound

    def _are_all_values(self, conditions: Sequence[Any]) -> bool:
        """Whether conditions compare one word with each of its values."""
        words, values = set[tuple[Any, ...]](), set[tuple[Any, ...]]()
        for bit in conditions:
            cell = self.driver.get(bit)
            ports = {"A": [bit], "B": ["1"]}  # a bit by itself
            if cell is not None and cell["type"] in ("$eq", "$logic_not", "$not"):
                ports = dict(self.inputs(cell))
            words.add(tuple(ports["A"]))
            values.add(tuple(ports.get("B", ["0"] * len(ports["A"]))))
        are_constant = all({*value} <= {"0", "1"} for value in values)
        return len(words) == 1 and are_constant and len(values) == 1 << len(next(iter(words)))


def _lowest(word: Sequence[Any], signed: bool) -> int:
    """The least value of a word, lowest bit first, whose unknown bits may be any."""
    *low, top = word
    value = sum(1 << place for place, bit in enumerate(low) if bit == "1")
    if signed:
        return value - (0 if top == "0" else 1 << len(low))
    return value + ((1 << len(low)) if top == "1" else 0)


def _distinct(texts: Any) -> list[str]:
    return list(dict.fromkeys(texts))
