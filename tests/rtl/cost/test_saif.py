"""Changes of nets: as Icarus Verilog counts them in the same netlist, in a file, and as OpenSTA turns them into power."""

import re
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from golden import Unit
from golden.stimulus import Operands, OperandShape, generate
from rtl.cost import timing
from rtl.cost.activity import changes, power
from rtl.cost.cost_columns import NETLIST, SAIF, measure
from rtl.cost.flow import run_mapper
from rtl.cost.liberty import Library, library
from rtl.cost.mapped_netlist import CONSTANTS, Netlist, Placed
from rtl.cost.saif import saif
from rtl.cost.synthesis import TOP, map_whole
from rtl.verilog.emit import to_verilog
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit
from tests.rtl.cost.test_activity import UNIT, netlist, rows
from tests.rtl.cost.test_liberty import SMALL

PERIOD = 1000
"""Time units of a cycle in the simulation, in which every net settles."""


def test_file_has_every_pin_and_port(tmp_path: Path) -> None:
    (tmp_path / "small.lib").write_text(SMALL)
    circuit = netlist(Placed("i", "INV", {"A": 1, "Y": 60}), Placed("n", "NAND2", {"A": 1, "B": "1", "Y": 61}))
    made = changes(circuit, library(f"{tmp_path}/small.lib"), UNIT, 0, rows([0, 1, 0, 1, 1, 0]))
    text = saif(circuit, made, "unit", 2.0)
    assert text.splitlines()[1:4] == [
        "(DURATION 10000000)", "(INSTANCE unit (NET", "(a\\[0\\] (T0 4000000) (T1 6000000) (TX 0) (TC 4) (IG 0))",
    ]  # fmt: skip
    assert "(d (T0 6000000) (T1 4000000) (TX 0) (TC 4) (IG 0))" in text
    assert (
        "(INSTANCE n (NET (A (T0 4000000) (T1 6000000) (TX 0) (TC 4) (IG 0)) (B (T0 0) (T1 10000000) (TX 0) (TC 0)" in text
    )
    assert text.count("(") == text.count(")")


def bench(circuit: Netlist, cells: Library, unit: Unit, operands: Operands) -> str:
    """Verilog that drives a netlist with rows, the first and the last one for several cycles. Every gate takes a time unit,
    registers and inputs none."""
    latency, ports = unit.implementation.stages, {"a": unit.a.width, "b": unit.b.width, "c": unit.operation.c.width}
    lines = ["module bench;", "reg clk = 0, rst = 1, in_valid = 1, out_ready = 1;"]
    lines += [f"reg [{len(circuit.inputs[name]) - 1}:0] {name};" for name in ports]
    for name, nets in circuit.inputs.items():
        lines += [f"wire n{net} = {name}{f'[{bit}]' * (len(nets) > 1)};" for bit, net in enumerate(nets)]
    for cell in circuit.cells:
        of = cells.cells[cell.kind]
        outputs = {pin: net for pin, net in cell.nets.items() if pin in of.functions}
        lines += [f"wire r{net}; wire #{int(of.register is None)} n{net} = r{net};" for net in outputs.values()]
        pins = {pin: f"1'b{net}" if net in CONSTANTS else f"n{net}" for pin, net in cell.nets.items()}
        named = (f".{pin}({f'r{outputs[pin]}' if pin in outputs else wire})" for pin, wire in pins.items())
        lines.append(f"{cell.kind} {cell.name} ({', '.join(named)});")
    count = len(operands.c)
    lines.append('initial begin $dumpfile("all.vcd"); $dumpvars(1, bench);')
    for place in [0] * (latency + 2) + [*range(count)] + [count - 1] * latency:
        codes = {name: np.atleast_1d(getattr(operands, name)[place]).tolist() for name in ports}
        for name, width in ports.items():
            lines.append(f"{name} <= 'd{sum(code << width * k for k, code in enumerate(codes[name]))};")
        lines.append(f"#{PERIOD // 2} clk = 0; #{PERIOD // 2} rst <= 0; clk = 1;")
    return "\n".join([*lines, "$finish; end", "endmodule", ""])


def counted(vcd: str, start: int) -> tuple[dict[int, int], dict[int, int]]:
    """Changes of every net n… from a time on: between the values at the ends of cycles, and all."""
    names = {code: int(number) for code, number in re.findall(r"\$var wire 1 (\S+) n(\d+) \$end", vcd)}
    now, time, ends, every = dict[int, str](), 0, defaultdict[int, list[str]](list), defaultdict[int, int](int)
    for line in vcd.split("$enddefinitions $end")[1].splitlines():
        if line.startswith("#"):
            time, before = int(line[1:]), time
            for _ in range(before // PERIOD, time // PERIOD):
                for net, value in now.items():
                    ends[net].append(value)
        elif line[:1] in ("0", "1") and line[1:] in names:
            net = names[line[1:]]
            every[net] += time >= start and now.get(net) != line[0]
            now[net] = line[0]
    settled = {net: sum(x != y for x, y in pairwise(values[start // PERIOD - 1 :])) for net, values in ends.items()}
    return settled, every


@pytest.mark.slow
@pytest.mark.needs("icarus")
@needs_yosys
@needs_library
@pytest.mark.parametrize("stages", [0, 2])
def test_changes_are_those_that_a_simulator_counts(stages: int, tmp_path: Path) -> None:
    """Icarus Verilog, with the cells as Yosys reads them from the Liberty file, finds the same number for every net."""
    unit, cells = small_unit(stages=stages), library("osu018")
    mapped = map_whole(to_verilog(unit, TOP), cells)
    operands = generate(OperandShape.of(unit), 40, seed=0).operands
    read = f"read_liberty -ignore_miss_func {cells.name}; write_verilog -noattr cells.v"
    files = run_mapper("module none; endmodule\n", read, ["cells.v"], {cells.name: cells.text})
    (tmp_path / "cells.v").write_text(files["cells.v"])
    (tmp_path / "bench.v").write_text(bench(mapped.netlist, cells, unit, operands))
    for command in (["iverilog", "-g2005", "-o", "bench", "bench.v", "cells.v"], ["./bench"]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    settled, every = counted((tmp_path / "all.vcd").read_text(), PERIOD * (stages + 2))
    driven = [
        net for cell in mapped.netlist.cells for pin, net in cell.nets.items() if pin in cells.cells[cell.kind].functions
    ]
    assert len(driven) > 100
    simulated = [(settled[int(net)], every[int(net)]) for net in driven]

    def counts() -> list[tuple[int, int]]:
        made = changes(mapped.netlist, cells, unit, stages, operands)
        return [(round(made.settled[net] * made.cycles), round(made.all[net] * made.cycles)) for net in driven]

    assert counts() == simulated
    wrong = {
        "_former": lambda plane, _: plane >> 1,
        "_until_settled": lambda _, x, y: {n: (x[n] ^ y[n]).bit_count() for n in x},
    }
    for name, instead in wrong.items():  # the row that follows, and no glitches
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"rtl.cost.activity.{name}", instead)
            assert counts() != simulated


@needs_library
@needs_sta
def test_power_is_what_opensta_says_where_it_knows_every_net() -> None:
    """In inverters and buffers OpenSTA 2.0 takes each input's activity on to the outputs; elsewhere it estimates."""
    cells, chains = library("osu018"), (("INVX1", "INVX8", "BUFX2"), ("BUFX4", "INVX1"), ("INVX4", "INVX2", "INVX1"))
    placed = []
    for chain, kinds in enumerate(chains):
        nets = [chain + 1, *(10 * chain + 50 + k for k in range(len(kinds)))]
        placed += [Placed(f"c{chain}{k}", kind, {"A": nets[k], "Y": nets[k + 1]}) for k, kind in enumerate(kinds)]
    ends = (52, 61, 72)
    circuit = Netlist({"a": tuple(range(1, 17)), "b": tuple(range(101, 117))}, {"d": ends}, tuple(placed))
    lines = ["module unit(a, b, d);", "input [15:0] a, b;", "output [2:0] d;", "wire n50, n51, n60, n70, n71;"]
    names = {net: f"a[{net - 1}]" for net in range(1, 17)} | {net: f"d[{bit}]" for bit, net in enumerate(ends)}
    for cell in placed:
        pins = (f".{pin}({names.get(int(net), f'n{net}')})" for pin, net in cell.nets.items())
        lines.append(f"{cell.kind} {cell.name} ({', '.join(pins)});")
    verilog, made = "\n".join([*lines, "endmodule", ""]), changes(circuit, cells, UNIT, 0, rows([0, 3, 2, 5, 4, 7, 1, 2, 3]))
    assert [made.settled[net] for net in (1, 2, 3)] == [7 / 8, 5 / 8, 2 / 8]
    told = timing.script("unit", cells, False, 5.0, 0.1)
    given = "".join(
        f"set_power_activity -input_ports [get_ports {{a[{bit}]}}] -activity {made.settled[bit + 1]}\n" for bit in range(3)
    )
    text = timing.run_script(verilog, cells, re.sub(r"set_power_activity -global .*\n", given, told))
    total = re.search(r"^Total .* (\S+) 100\.0%$", text, re.MULTILINE)
    assert total is not None
    ours = power(timing.cell_powers(verilog, "unit", cells, False, 5.0), circuit, cells, made.settled)
    assert ours == pytest.approx(float(total[1]), rel=1e-5)


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_measurement_leaves_netlist_and_activity(tmp_path: Path) -> None:
    unit = small_unit()
    operands = generate(OperandShape.of(unit), 20, seed=0).operands
    found = measure(unit, {"saif": True}, tmp_path, operands)
    assert {path.name for path in tmp_path.iterdir()} == {NETLIST, SAIF}
    scopes = re.findall(r"\(INSTANCE (\S+) \(NET", (tmp_path / SAIF).read_text())
    assert scopes == [TOP, *re.findall(r"^  \S+ (cell\d+) \($", (tmp_path / NETLIST).read_text(), re.MULTILINE)]
    assert found["changes_per_net"] > 0
    with pytest.raises(ValueError, match=r"^saif takes rows of operands and a folder: name a workload as the activity$"):
        measure(unit, {"saif": True}, tmp_path)
