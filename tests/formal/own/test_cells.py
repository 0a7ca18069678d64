"""Every cell held to what Yosys itself works out for it, for all operands."""

import json
import re
from typing import Any

import bitwuzla
import numpy as np
import pytest
from bitwuzla import Kind

from formal.obligations.units import deep_stack
from formal.own.cells import Cell
from formal.own.circuit import read_circuit
from formal.own.rows import columns
from rtl.cost.flow import run_yosys
from rtl.verilog.expressions import NoTerm
from rtl.verilog.terms import Bits, Terms

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
    """One module with a cell of each, and a multiplexer."""
    ports, lines = ["wire width 5 input 1 \\a", "wire width 5 input 2 \\b", "wire width 1 input 3 \\s"], []
    for number, (kind, (wa, wb, wy), sa, sb) in enumerate(cells(), start=4):
        ports.append(f"wire width {wy} output {number} \\y{number - 4}")
        lines += [f"cell {kind} $c{number}", f"parameter \\A_SIGNED {sa}", f"parameter \\A_WIDTH {wa}"]
        lines += [f"parameter \\Y_WIDTH {wy}", f"connect \\A \\a [{wa - 1}:0]", f"connect \\Y \\y{number - 4}"]
        if kind in BINARY:
            lines += [f"parameter \\B_SIGNED {sb}", f"parameter \\B_WIDTH {wb}", f"connect \\B \\b [{wb - 1}:0]"]
        lines.append("end")
    last = len(cells())
    ports.append(f"wire width 5 output {last + 4} \\y{last}")
    lines += ["cell $mux $m", "parameter \\WIDTH 5", "connect \\A \\a", "connect \\B \\b", "connect \\S \\s"]
    lines += [f"connect \\Y \\y{last}", "end"]
    return "\n".join(["module \\top", *ports, *lines, "end", ""])


def yosys_rows(chosen: int) -> tuple[dict[str, Any], str]:
    """The module, and the table of what Yosys works out for every a and b."""
    shown = " ".join(f"-show y{k}" for k in range(len(cells()) + 1))
    script = (
        f"read_rtlil cells.il; write_json cells.json; cd top; tee -q -o table.txt eval -set s 1'b{chosen} -table a,b {shown}"
    )
    made = run_yosys("", script, ("cells.json", "table.txt"), {"cells.il": rtlil()})
    return json.loads(made["cells.json"])["modules"]["top"], made["table.txt"]


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
        circuit = read_circuit(Terms(manager), module)
        given = {bits.term: codes.get(port, np.full(1024, chosen, dtype=object)) for port, bits in circuit.inputs.items()}
        found = columns([bits.term for bits in circuit.outputs.values()], given)
        wrong = [name for name, bits in circuit.outputs.items() if (found[bits.term] != codes[name]).any()]
    assert len(cells()) > 150
    assert wrong == []


def test_what_lies_beside_an_indexed_word_is_anything() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        free = list[Bits]()

        def anything(width: int) -> Bits:
            free.append(terms.free("anything", width))
            return free[-1]

        word, place = terms.free("a", 4), terms.free("b", 3)
        value = Cell(terms, "$shiftx", {}, {"A": word, "B": place}, 2, anything).value()
        solver = bitwuzla.Bitwuzla(manager, bitwuzla.Options())
        inside = manager.mk_term(Kind.EQUAL, [place.term, terms.number(1, 3).term])
        solver.assert_formula(inside)
        solver.assert_formula(terms.differs(value, terms.part(word, 2, 1)))
        assert solver.check_sat() == bitwuzla.Result.UNSAT
        beside = bitwuzla.Bitwuzla(manager, bitwuzla.Options())
        beside.assert_formula(manager.mk_term(Kind.EQUAL, [place.term, terms.number(5, 3).term]))
        beside.assert_formula(terms.differs(value, terms.number(0, 2)))
        assert beside.check_sat() == bitwuzla.Result.SAT
        with pytest.raises(NoTerm, match=r"a cell \$div has no term"):
            Cell(terms, "$div", {}, {"A": word, "B": place}, 2, anything).value()
