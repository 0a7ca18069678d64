"""Lines of a report about expressions that tools evaluate in different orders, or at different times."""

from pathlib import Path

import pytest

from cosim.compile.expression_findings import effects_without_order, hidden_inputs
from cosim.compile.other_readings import other_readings
from cosim.compile.preprocessing import texts_of
from cosim.compile.sources import sources_of
from cosim.compile.verilator_findings import tree_of
from cosim.dut.elaborate import WRAPPER
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.formal.user_design.design_by_hand import PRODUCT, Wrong
from tests.mmau.formal.user_design.wrong_expressions import EXPRESSIONS
from tests.volume import one_in

pytestmark = pytest.mark.simulator


@pytest.mark.parametrize("name", one_in(4, EXPRESSIONS))
@pytest.mark.attack("designs by hand, in cosim")
def test_expression_that_tools_evaluate_otherwise_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_packaged_verilator()
    monkeypatch.setattr("cosim.compile.other_readings.findings_of_yosys", lambda *text: [])
    sources = sources_of(UnitDesign(PRODUCT), EXPRESSIONS[name].described(tmp_path), tmp_path)
    assert EXPRESSIONS[name].says in other_readings(sources, tmp_path)


SOUND = """logic [31:0] i, j; logic k; function automatic logic f(input [31:0] x, output [31:0] y); y = x; return x[0];
endfunction always_comb begin i = 0; i++; j = i++; k = f(r, j); for (int n = 0; n < 3; n++) j += 1; if (f(r, j)) i = 1;
void'(f(r, d)); end
function automatic [31:0] g(input [31:0] x); localparam P = 1; return x ^ P; endfunction wire [31:0] u = g(r);
logic [31:0] w, v; function automatic [31:0] h(input [31:0] x); return x ^ r; endfunction always_comb w = h(a);
always @* v = h(a) ^ r;"""


def test_effects_with_an_order_and_inputs_in_sight_are_no_findings(tmp_path: Path) -> None:
    use_packaged_verilator()
    (text,) = texts_of(sources_of(UnitDesign(PRODUCT), Wrong(SOUND, "").described(tmp_path), tmp_path), tmp_path)
    tree = tree_of(WRAPPER, text.verilog, tmp_path)
    assert (effects_without_order(tree), hidden_inputs(tree)) == ([], [])
