"""Values of expressions, compared with a simulator that shares nothing with this reader."""

import subprocess
from pathlib import Path
from random import Random

import pytest
from bitwuzla import TermManager

from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import (
    ARITHMETIC,
    ARITHMETIC_SHIFT,
    BITWISE,
    CHANGES,
    EQUALITY,
    LOGIC,
    ORDER,
    REDUCED_XNOR,
    REDUCTIONS,
    SHIFTS,
    NoTerm,
)  # fmt: skip
from mmau.prove.netlist.terms import Terms
from mmau.prove.netlist.verilog_text import UnreadableVerilog, read_netlist

INPUTS = {"a": ("", 3, 0), "b": (" signed", 4, 0), "c": ("", 0, 0), "d": (" signed", 6, 0), "e": ("", 7, 2), "f": ("", 0, 5)}
"""Signed or not, and the declared range: from 0, not from 0, and the lowest bit first."""

BINARY = [*BITWISE, *ARITHMETIC, *SHIFTS, ARITHMETIC_SHIFT, *ORDER, *EQUALITY, *LOGIC]
UNARY = [*REDUCTIONS, REDUCED_XNOR, *CHANGES, "!"]
RESULTS, ROWS = 400, 60

MANAGER = TermManager()
"""The manager outlives every term, also those that an exception holds."""


def width_of(name: str) -> int:
    _, high, low = INPUTS[name]
    return abs(high - low) + 1


def operand(random: Random, depth: int = 0) -> str:
    """An operand as Yosys writes them."""
    name = random.choice(list(INPUTS))
    match random.randrange(7 if depth == 0 else 4):
        case 0 | 1:
            return name
        case 2:
            ends = sorted(
                random.sample(range(min(INPUTS[name][1:]), max(INPUTS[name][1:]) + 1), 2 if width_of(name) > 1 else 1)
            )
            high, low = (ends[-1], ends[0]) if INPUTS[name][1] >= INPUTS[name][2] else (ends[0], ends[-1])
            return f"{name}[{high}:{low}]"
        case 3:
            width = random.randrange(1, 7)
            return f"{width}'{random.choice(['h', 'sh'])}{random.getrandbits(width):x}"
        case 4:
            return random.choice([f"$signed({operand(random, 1)})", str(random.randrange(9))])
        case 5:
            return "{ " + ", ".join(operand(random, 1) for _ in range(random.randrange(1, 4))) + " }"
    return "{ " + str(random.randrange(1, 4)) + "{ " + operand(random, 1) + " } }"


def expression(random: Random) -> str:
    """Any operator, twice as often one of two operands."""
    match random.randrange(5):
        case 0:
            return operand(random)
        case 1:
            return f"{random.choice(UNARY)} {operand(random)}"
        case 2:
            return f"{operand(random)} ? {operand(random)} : {operand(random)}"
    return f"{operand(random)} {random.choice(BINARY)} {operand(random)}"


def module(assigned: dict[str, tuple[int, str]]) -> str:
    """A module that gives each expression to an output of so many bits."""
    lines = [f"module top({', '.join([*INPUTS, *assigned])});"]
    for name, (signed, high, low) in INPUTS.items():
        lines += [f"  input{signed} [{high}:{low}] {name};", f"  wire{signed} [{high}:{low}] {name};"]
    for name, (width, text) in assigned.items():
        lines += [f"  output [{width - 1}:0] {name};", f"  wire [{width - 1}:0] {name};", f"  assign {name} = {text};"]
    return "\n".join([*lines, "endmodule", ""])


def simulated(folder: Path, verilog: str, outputs: list[str], rows: list[dict[str, int]]) -> list[list[int]]:
    """The outputs for each row, by Icarus Verilog."""
    bench = ["module bench;"]
    bench += [f"  reg [{width_of(name) - 1}:0] {name};" for name in INPUTS]
    bench += [f"  wire [63:0] {name};" for name in outputs]
    bench.append(f"  top dut({', '.join([f'.{name}({name})' for name in [*INPUTS, *outputs]])});")
    bench.append("  initial begin")
    for row in rows:
        bench.append("    " + " ".join(f"{name} = {value};" for name, value in row.items()) + " #1;")
        bench += [f'    $write("%0d ", {name});' for name in outputs] + ["    $display;"]
    bench += ["  end", "endmodule"]
    (folder / "dut.v").write_text(verilog)
    (folder / "bench.v").write_text("\n".join(bench))
    subprocess.run(["iverilog", "-g2005", "-o", "bench", "bench.v", "dut.v"], cwd=folder, check=True, capture_output=True)
    told = subprocess.run(["./bench"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return [[int(number) for number in line.split()] for line in told.splitlines() if line.strip()]


def read(verilog: str, rows: list[dict[str, int]]) -> list[list[int]]:
    """The same outputs from the terms."""
    terms = Terms(MANAGER)
    inputs = {name: terms.free(name, width_of(name)) for name in INPUTS}
    modules = read_netlist(verilog)
    outputs = Circuit.of_top(Setting(terms, modules), modules["top"], inputs).outputs()
    evaluation = Evaluation([bits.term for bits in outputs.values()])
    return [evaluation.of({inputs[name].term: value for name, value in row.items()}) for row in rows]


def random_rows(random: Random) -> list[dict[str, int]]:
    return [{name: random.getrandbits(width_of(name)) for name in INPUTS} for _ in range(ROWS)]


@pytest.mark.slow
@pytest.mark.needs("icarus")
@pytest.mark.parametrize("seed", range(2))
def test_expressions_give_what_a_simulator_says(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    assigned = {f"z{k}": (random.randrange(1, 10), expression(random)) for k in range(RESULTS)}
    verilog, rows = module(assigned), random_rows(random)
    wanted, got = simulated(tmp_path, verilog, list(assigned), rows), read(verilog, rows)
    assert len(wanted) == len(got) == ROWS
    differing = [
        (text, width, row, says, reads)
        for row, of_row, of_terms in zip(rows, wanted, got, strict=True)
        for (width, text), says, reads in zip(assigned.values(), of_row, of_terms, strict=True)
        if says != reads
    ]
    assert differing == []


CHILD = """module child(x, s, p, q);
  input [4:0] x;
  wire [4:0] x;
  input signed [5:0] s;
  wire signed [5:0] s;
  output [3:0] p;
  wire [3:0] p;
  output signed [4:0] q;
  wire signed [4:0] q;
  assign p = x ^ 4'ha;
  assign q = s + 6'sh03;
endmodule
"""


def instances(connected: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """A module with an instance for each pair of operands, which gives both results together, and its outputs."""
    outputs = [f"z{k}" for k in range(len(connected))]
    lines = []
    for (x, s), name in zip(connected, outputs, strict=True):
        lines += [f"  output [8:0] {name};", f"  wire [8:0] {name};", f"  child c{name} (", f"    .x({x}),", f"    .s({s}),"]
        lines += [f"    .p({name}[3:0]),", f"    .q({name}[8:4])", "  );"]
    head = module({}).splitlines()
    head[0] = f"module top({', '.join([*INPUTS, *outputs])});"
    return "\n".join([*head[:-1], *lines, "endmodule", CHILD]), outputs


CONNECTED = [
    ("b", "e"),
    ("{ c, a }", "f"),
    ("d[6:2]", "d[5:0]"),
    ("$signed(e[6:2])", "{ 3{ a[2:1] } }"),
    ("5'h13", "6'sh3a"),
]


@pytest.mark.needs("icarus")
def test_connections_give_what_a_simulator_says(tmp_path: Path) -> None:
    rows = random_rows(Random(5))
    verilog, outputs = instances(CONNECTED)
    assert read(verilog, rows) == simulated(tmp_path, verilog, outputs, rows)


@pytest.mark.parametrize("connected", [("a", "e"), ("b", "d"), ("b", "$signed(c)")])
def test_a_connection_of_another_width_has_no_term(connected: tuple[str, str]) -> None:
    with pytest.raises(NoTerm, match=r" bits and is connected to \d$"):
        read(instances([connected])[0], [dict.fromkeys(INPUTS, 0)])


@pytest.mark.parametrize(
    "new",
    [
        "assign z = ~ a;\n  always @* z = 4'h0;",
        "assign z = ~ a;\n  initial z = 4'h0;",
        "wire [3:0] w = a;\n  assign z = ~ a;",
        "assign #1 z = ~ a;",
        "assign z = ~ a; assign z = b;",
        "assign z = ~ a[5:4];",
        "assign z = { a[1:0], 1 };",
        "wire [2:0] a;\n  assign z = ~ a;",
        "assign z = ~ a;\nendmodule\nmodule top(a);",
        "assign z = ~ a;\nendmodule\n`define a b\nmodule other(a);",
        "always @(posedge clk)\n    if (c)\n      z <= a;",
        "always @(posedge clk)\n  always @(posedge clk)",
        "always @(negedge clk)\n    z <= a;",
        "and (z[0], a[0], a[1]);",
        "defparam x.y = 1;",
    ],
)
def test_a_statement_that_yosys_does_not_write_is_refused(new: str) -> None:
    """If it were ignored, a wrong datapath could pass."""
    text = module({"z": (4, "~ a")})
    with pytest.raises(UnreadableVerilog):
        read_netlist(text.replace("assign z = ~ a;", new))
