"""Cells in Yosys' JSON: each compared with Yosys' own evaluation for all operands; and circuits that are refused."""

import json
import re
from typing import Any

import bitwuzla
import numpy as np
import pytest
from bitwuzla import Kind

from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.yosys_json import BINARY as OPERATORS
from mmau.prove.netlist.yosys_json import UNARY as SIGNS
from mmau.prove.netlist.yosys_json import UnreadableCircuit, read_circuit
from mmau.prove.user_design.row_evaluation import columns
from rtl.yosys import run_yosys

BINARY = (
    "$and", "$or", "$xor", "$xnor", "$add", "$sub", "$mul", "$lt", "$le", "$gt", "$ge", "$eq", "$ne", "$eqx", "$nex",
    "$logic_and", "$logic_or", "$shl", "$shr", "$sshl", "$sshr",
)  # fmt: skip

UNARY = (
    "$not", "$neg", "$pos", "$reduce_and", "$reduce_or", "$reduce_bool", "$reduce_xor", "$reduce_xnor", "$logic_not",
)  # fmt: skip

SHIFTS = {"$shl", "$shr", "$sshl", "$sshr"}

SHAPES = ((5, 3, 6), (3, 5, 4), (4, 4, 1))
"""Bits of A, B and Y."""


def cells() -> list[tuple[str, tuple[int, int, int], int, int]]:
    """Kinds with shapes, and whether A and B have signs; B of a shift has none."""
    found = [(kind, shape, sign, sign) for kind in UNARY for shape in SHAPES for sign in (0, 1)]
    for kind in BINARY:
        for shape in SHAPES:
            found += [(kind, shape, sign, 0 if kind in SHIFTS else sign) for sign in (0, 1)]
    return found


def rtlil() -> str:
    """One module with a cell of each, a multiplexer, and one of each bit."""
    ports, lines = ["wire width 5 input 1 \\a", "wire width 5 input 2 \\b", "wire width 1 input 3 \\s"], []
    for number, (kind, (wa, wb, wy), sa, sb) in enumerate(cells(), start=4):
        ports.append(f"wire width {wy} output {number} \\y{number - 4}")
        lines += [f"cell {kind} $c{number}", f"parameter \\A_SIGNED {sa}", f"parameter \\A_WIDTH {wa}"]
        lines += [f"parameter \\Y_WIDTH {wy}", f"connect \\A \\a [{wa - 1}:0]", f"connect \\Y \\y{number - 4}"]
        if kind in BINARY:
            lines += [f"parameter \\B_SIGNED {sb}", f"parameter \\B_WIDTH {wb}", f"connect \\B \\b [{wb - 1}:0]"]
        lines.append("end")
    last = len(cells())
    ports += [f"wire width 5 output {number + 4} \\y{number}" for number in (last, last + 1)]
    lines += ["cell $mux $m", "parameter \\WIDTH 5", "connect \\A \\a", "connect \\B \\b", "connect \\S \\s"]
    lines += [f"connect \\Y \\y{last}", "end", "cell $bwmux $w", "parameter \\WIDTH 5", "connect \\A \\a", "connect \\B \\b"]
    lines += ["connect \\S { \\b [1:0] \\a [4:2] }", f"connect \\Y \\y{last + 1}", "end"]
    return "\n".join(["module \\top", *ports, *lines, "end", ""])


def yosys_rows(chosen: int) -> tuple[dict[str, Any], str]:
    """The module, and the table of Yosys' results for every a and b."""
    shown = " ".join(f"-show y{k}" for k in range(len(cells()) + 2))
    script = (
        f"read_rtlil cells.il; write_json cells.json; cd top; tee -q -o table.txt eval -set s 1'b{chosen} -table a,b {shown}"
    )
    made = run_yosys(script, ("cells.json", "table.txt"), {"cells.il": rtlil()})
    return json.loads(made["cells.json"])["modules"]["top"], made["table.txt"]


def flat(terms: Terms, circuit: dict[str, Any], undefined: list[Bits] | None = None) -> FlatNetlist:
    """A circuit in JSON as terms."""
    return FlatNetlist(terms, {"top": read_circuit("top", circuit)}, "top", undefined=undefined)


def test_every_kind_that_is_read_is_tried() -> None:
    """Division has no term."""
    assert set(OPERATORS) - set(BINARY) == {"$div", "$mod", "$pow"}
    assert set(BINARY) <= set(OPERATORS)
    assert {*SIGNS, "$pos"} == set(UNARY)


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [0, 1])
def test_cells_give_what_yosys_works_out(chosen: int) -> None:
    module, table = yosys_rows(chosen)
    names, *rows = [re.split(r"[ |]+", line.strip()) for line in table.splitlines() if "|" in line]
    codes = {
        name.lstrip("\\"): np.array([int(code.split("'")[1], 2) for code in column], dtype=object)
        for name, *column in zip(names, *(row for row in rows if row[0][0] != "-"), strict=True)
    }
    assert len(codes["a"]) == 1024
    with deep_stack() as manager:
        circuit = flat(Terms(manager), module)
        given = {bits.term: codes.get(port, np.full(1024, chosen, dtype=object)) for port, bits in circuit.inputs.items()}
        found = columns([bits.term for bits in circuit.outputs.values()], given)
        wrong = [name for name, bits in circuit.outputs.items() if (found[bits.term] != codes[name]).any()]
    assert len(cells()) > 150
    assert wrong == []


def cell(kind: str, *, parameters: dict[str, Any] | None = None, output: str = "Y", **connections: Any) -> dict[str, Any]:
    """A cell as `write_json` writes it."""
    sides = {port: "output" if port == output else "input" for port in connections}
    return {"type": kind, "parameters": parameters or {}, "port_directions": sides, "connections": connections}


def circuit_of(cells: dict[str, dict[str, Any]], d: list[Any]) -> dict[str, Any]:
    """A circuit with a clock on net 2, a of four bits on nets 3 to 6, b of three on 7 to 9, and these nets at d."""
    ports = {"clk": ("input", [2]), "a": ("input", [3, 4, 5, 6]), "b": ("input", [7, 8, 9]), "d": ("output", d)}
    return {"ports": {name: {"direction": side, "bits": bits} for name, (side, bits) in ports.items()}, "cells": cells}


A, B = [3, 4, 5, 6], [7, 8, 9]


@pytest.mark.parametrize(
    ("signed", "place", "inside"),
    [(0, 1, True), (0, 2, True), (0, 3, False), (0, 5, False), (0, 7, False), (1, 1, True), (1, 5, False), (1, 7, False)],
)
def test_what_lies_beside_an_indexed_word_is_anything(signed: int, place: int, inside: bool) -> None:
    """Bits 1 and 0 of the result, of place 5 as a number with a sign too: it is -3."""
    indexed = cell("$shiftx", parameters={"B_SIGNED": f"{signed:032b}"}, A=A, B=B, Y=[20, 21])
    with deep_stack() as manager:
        terms = Terms(manager)
        found = flat(terms, circuit_of({"x": indexed}, [20, 21]), [])
        word, at = found.inputs["a"], found.inputs["b"]
        here = manager.mk_term(Kind.EQUAL, [at.term, terms.number(place, 3).term])
        for value in range(4):  # bits beside the word may have any value; bits within it are its own
            solver = bitwuzla.Bitwuzla(manager, bitwuzla.Options())
            solver.assert_formula(here)
            solver.assert_formula(manager.mk_term(Kind.EQUAL, [found.outputs["d"].term, terms.number(value, 2).term]))
            if inside:
                solver.assert_formula(terms.differs(found.outputs["d"], terms.part(word, place + 1, place)))
            elif (signed, place) == (0, 3):
                solver.assert_formula(terms.differs(terms.part(found.outputs["d"], 0, 0), terms.part(word, 3, 3)))
            expected = bitwuzla.Result.UNSAT if inside or (signed, place) == (0, 3) else bitwuzla.Result.SAT
            assert solver.check_sat() == expected


@pytest.mark.parametrize("signed", [0, 1])
def test_a_place_below_a_word_is_beside_it(signed: int) -> None:
    """Two bits of 1 are place 3, or with a sign -1."""
    indexed = cell("$shiftx", parameters={"B_SIGNED": str(signed)}, A=A, B=B[:2], Y=[20])
    with deep_stack() as manager:
        terms = Terms(manager)
        found = flat(terms, circuit_of({"x": indexed}, [20]), [])
        solver = bitwuzla.Bitwuzla(manager, bitwuzla.Options())
        solver.assert_formula(manager.mk_term(Kind.EQUAL, [found.inputs["b"].term, terms.number(3, 3).term]))
        solver.assert_formula(terms.differs(found.outputs["d"], terms.part(found.inputs["a"], 3, 3)))
        assert solver.check_sat() == (bitwuzla.Result.SAT if signed else bitwuzla.Result.UNSAT)


def test_registers_begin_in_any_state_and_take_what_comes() -> None:
    register = cell("$dff", parameters={"CLK_POLARITY": "1"}, output="Q", CLK=[2], D=[3, 4, "0"], Q=[20, 21, 22])
    with deep_stack() as manager:
        found = flat(Terms(manager), circuit_of({"r": register}, [21, 22]))
        (name,) = found.registers
        state, after = found.registers[name], found.after[name]
        shown = evaluate([found.outputs["d"].term, after.term], {state.term: 0b110, found.inputs["a"].term: 0b1010})
        assert (state.width, shown[found.outputs["d"].term], shown[after.term]) == (3, 0b11, 0b010)


@pytest.mark.parametrize(
    ("cells", "d", "message"),
    [
        ({"y": cell("$div", A=A, B=B, Y=[20])}, [20], "the operator / has no term"),
        ({"y": cell("$alu", A=A, B=B, Y=[20])}, [20], r"the operator \$alu has no term"),
        ({}, [20], "bit 0 of net 20 in top is not driven"),
        ({}, ["x"], "1'bx is no number"),
        ({"y": cell("$anyseq", Y=[20])}, [20], "1'bx is no number"),
        ({"y": cell("$not", A=[20], Y=[20])}, [20], "a loop in top"),
    ],
)
def test_what_has_no_term(cells: dict[str, dict[str, Any]], d: list[Any], message: str) -> None:
    with deep_stack() as manager:
        got = ""
        try:
            flat(Terms(manager), circuit_of(cells, d))
        except NoTerm as error:
            got = str(error)
        assert re.fullmatch(message, got)


def test_a_cell_without_a_term_that_nothing_depends_on_is_no_matter() -> None:
    with deep_stack() as manager:
        found = flat(Terms(manager), circuit_of({"y": cell("$div", A=A, B=B, Y=[20])}, [3]))
        assert found.outputs["d"].width == 1


def test_what_is_undefined_is_another_variable_each_time() -> None:
    with deep_stack() as manager:
        undefined = list[Bits]()
        cells = {name: cell("$anyseq", Y=[net]) for name, net in (("y", 20), ("z", 21))}
        found = flat(Terms(manager), circuit_of(cells, [20, 20, 21]), undefined)
        assert len(undefined) == 2
        values = {undefined[0].term: 1, undefined[1].term: 0}
        assert evaluate([found.outputs["d"].term], values)[found.outputs["d"].term] in (0b011, 0b100)


def flipflop(clock: int, polarity: str) -> dict[str, Any]:
    """A register of a clock."""
    return cell("$dff", parameters={"CLK_POLARITY": polarity}, output="Q", CLK=[clock], D=[3], Q=[20])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (flipflop(2, "0"), "at another moment than the rising edge of clk"),
        (flipflop(3, "1"), "at another moment than the rising edge of clk"),
        (cell("$not", A=[3], Y=[4]), "net 4 is driven twice"),
        (cell("$specify2", EN=[3]), r"y is a \$specify2, which has no output"),
    ],
)
def test_what_cannot_be_read(made: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableCircuit, match=message):
        read_circuit("top", circuit_of({"y": made}, [3]))


@pytest.mark.slow
def test_the_longest_path_needs_no_stack_of_the_machine() -> None:
    """A path of so many cells ended Python itself when functions of C called one another."""
    count, first = 20_000, 20
    cells = {"0": cell("$not", A=[3], Y=[first])}
    for number in range(1, count):
        cells[str(number)] = cell("$not", A=[first + number - 1], Y=[first + number])
    with deep_stack() as manager:
        found = flat(Terms(manager), circuit_of(cells, [first + count - 1]))
        assert evaluate([found.outputs["d"].term], {found.inputs["a"].term: 0})[found.outputs["d"].term] == 0
