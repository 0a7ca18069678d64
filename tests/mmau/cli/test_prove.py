"""`mmau prove`: exit status and report."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from golden.units.unit import Array
from golden.units.unit_file import unit_to_toml
from mmau.cli import prove as command
from mmau.cli.main import main
from mmau.jobs import runs
from mmau.prove import deadline
from mmau.prove import design_proof as prove
from mmau.prove.counterexample import golden_result
from mmau.prove.decision import DATAPATH, OPEN, PROVED, REFUTED, SPECIFICATION, UserDesignDecision, WrongResult
from mmau.prove.specification import fused
from rtl.datapath.base import DecodedDatapath
from rtl.verilog.emit import to_verilog
from tests.mmau.jobs.test_progress_line import Terminal
from tests.mmau.prove.datapath.test_unit_questions import FAULTS, faulty
from tests.mmau.prove.in_this_process import in_this_process
from tests.mmau.prove.provable_units import SMALL, unit_of, verilog_of
from tests.mmau.prove.user_design.design_by_hand import OPERANDS, PRODUCT, RIGHT


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "watched", in_this_process)


@pytest.fixture
def unit_file(tmp_path: Path) -> str:
    path = tmp_path / "unit.toml"
    path.write_text(unit_to_toml(unit_of(SMALL)), encoding="utf-8")
    return str(path)


@pytest.fixture
def pipelined_file(unit_file: str) -> str:
    path = Path(unit_file)
    path.write_text(path.read_text().replace("stages = 0", "stages = 3"), encoding="utf-8")
    return unit_file


@pytest.mark.slow
def test_a_unit_that_is_proved(unit_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--unit", unit_file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["not_proved"], found["problem"]) == ("proved", [], "")
    assert all(proved == count > 0 for proved, count in found["steps"].values())
    assert "accumulate" in found["steps"]


@pytest.mark.simulator
def test_a_unit_that_is_refuted_in_simulation_too(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    verilog = faulty(verilog_of(SMALL), *FAULTS["a product of significands"])
    monkeypatch.setattr(prove, "to_verilog", lambda unit, top: verilog)
    assert main(["prove", "--unit", unit_file, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    shown = found["counterexample"]
    assert shown["expected"] == golden_result(unit_of(SMALL), shown["inputs"]) != shown["got"]
    assert any("max_exp" in line for line in found["explanation"])


@pytest.mark.long
@pytest.mark.simulator
def test_a_fault_of_the_specification_is_no_counter_example(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = fused.__dict__["align"]
    monkeypatch.setattr(fused, "align", lambda term, e_max, F, mode: sound(term, e_max, F, "RO"))
    assert main(["prove", "--unit", unit_file]) == 3
    told = capsys.readouterr().out
    assert told.startswith("unit, ones-complement: not decided\n")
    assert "give golden's result in simulation, so the specification of that step is wrong" in told


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (UserDesignDecision(verdict=PROVED, equal_to=SPECIFICATION, assumed=("rst is not active",), decided=("zeros alone",),
                            decided_by="bitwuzla", sources={"mine.sv": "5f3a"}), 0, "proved equal to"),
        (UserDesignDecision(verdict=REFUTED, equal_to=SPECIFICATION, decided_by="simulation",
                            counterexample=WrongResult({"a": 1}, 2, 3, ("a line",))), 1, "differs from"),
        (UserDesignDecision(verdict=OPEN, equal_to=DATAPATH, reason="no solver finished in 1 s"), 3,
         "not decided whether equal to"),
        (UserDesignDecision(verdict=OPEN, equal_to=SPECIFICATION, reason="exponents 0 apart is open",
                            open=("exponents 0 apart",), distances=(87, 88)), 3, "not decided whether equal to"),
    ],
)  # fmt: skip
def test_a_user_design(
    unit_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    found: UserDesignDecision, status: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(command, "prove", lambda design, seconds, dut, waived, store, **others: found)
    (tmp_path / "mine.sv").touch()
    dut = tmp_path / "dut.toml"
    dut.write_text('top = "mine"\nsources = ["mine.sv"]\n', encoding="utf-8")
    assert main(["prove", "--unit", unit_file, "--dut", str(dut)]) == status
    told = capsys.readouterr().out
    assert told.startswith(f"{dut}: {said} {found.equal_to} of unit\n")
    shown = found.counterexample
    lines = [] if shown is None else ["a=0x1: got 0x2, expected 0x3", "a line"]
    for line in (*(f"where {rule}" for rule in found.assumed), *found.decided, found.reason, *lines):
        assert f"  {line}\n" in told or not line
    assert main(["prove", "--unit", unit_file, "--dut", str(dut), "--json"]) == status
    assert json.loads(capsys.readouterr().out) == {
        "schema": "mmau.prove/1", "unit": "unit",
        "verdict": found.verdict, "equal_to": found.equal_to, "problem": found.reason,
        "assumed": list(found.assumed), "decided": list(found.decided), "decided_by": found.decided_by,
        "counterexample": None if shown is None else {"inputs": {"a": 1}, "got": 2, "expected": 3},
        "explanation": [] if shown is None else ["a line"], "sources": dict(found.sources),
        **({"open": ["exponents 0 apart"], "distances": {"proved": 87, "count": 88}} if found.open else {}),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.simulator
def test_answers_about_cases_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit, source, dut, store = (tmp_path / name for name in ("unit.toml", "mine.sv", "dut.toml", "store"))
    unit.write_text(unit_to_toml(PRODUCT), encoding="utf-8")
    dut.write_text('top = "mine"\nsources = ["mine.sv"]\n', encoding="utf-8")
    command = ["prove", "--unit", str(unit), "--dut", str(dut), "--store", str(store)]
    for body, status in (("assign d = r;", 0), ("assign d = r;", 0), ("assign d = r ^ 32'(a == 8'd9);", 1)):
        source.write_text(f"module mine({OPERANDS});\n{RIGHT}{body}\nendmodule\n", encoding="utf-8")
        assert main(command) == status
        assert len(list((store / "results").iterdir())) == 1
    for name, value in (("store", str(store)), ("jobs", "2"), ("scheduler", "tcp://localhost:1")):
        assert main([*command[:3], f"--{name}", value]) == 2
        assert f"--{name} is for a design that --dut describes" in capsys.readouterr().err
    assert main([*command, "--jobs", "0"]) == 2
    assert "--jobs must be at least 1, got 0" in capsys.readouterr().err


def test_progress_is_in_cases_with_the_time_of_the_others_at_their_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    for module in (command, runs):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    stream = Terminal()
    cases = command.Cases(60.0, stream)
    for name, decided, count, after in (("", 1, 4, 4.0), ("", 2, 5, 4.0), ("RZ: ", 1, 3, 10.0)):
        now[0] += after
        left = ["another"] * (count - decided)
        cases.take({"decided": ["a case"], "cases": {"name": name, "decided": decided, "open": left}})
    cases.take({"decided": ["another"]})
    now[0] += 20.0
    cases.end()
    assert stream.getvalue().split("\r\x1b[K") == [
        "", "1 of 4 cases decided, 12 s more at their pace, 56 s at most",
        "2 of 5 cases decided, 12 s more at their pace, 52 s at most",
        "RZ: 1 of 3 cases decided, 0 s more at their pace, 42 s at most",
        "RZ: 1 of 3 cases decided, 40 s more at their pace, 22 s at most\n",
    ]  # fmt: skip


def test_the_page_names_the_open_cases_first() -> None:
    found = UserDesignDecision(verdict=OPEN, equal_to=SPECIFICATION, decided=("special values",), open=("exponents < 3",))
    page = command.html_of("dut.toml: not decided", replace(found, reason="the time ended"))
    rows = re.findall("<tr><td>(.*?)</td><td>(.*?)</td></tr>", page)
    assert rows == [("exponents &lt; 3", "open"), ("special values", "decided")]
    assert "the time ended" in page
    assert 'class="failed">dut.toml: not decided' in page


@pytest.mark.slow
def test_a_unit_with_registers_is_proved_as_it_is_built(pipelined_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--unit", pipelined_file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["stages"], found["not_proved"]) == ("proved", 3, [])
    assert found["steps"]["handshake"] == [23, 23]
    assert {"accumulate", "multiply"} <= set(found["steps"])
    assert "rst is high in the first cycle" in found["assumed"]


@pytest.mark.slow
def test_a_tile_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    tile = ["--arch", "x86-amx", "--instr", "tdpbusd.m16n16k16", "--tile", "2x1", "--stages", "2"]
    assert main(["prove", *tile]) == 0
    assert capsys.readouterr().out.startswith("x86-amx tdpbusd.m16n16k16, 2x1 tile, ones-complement, 2 stages: proved\n")


ARRAY = Array(rows=2, columns=2, steps=2, decoders="edge")


@pytest.mark.costly
def test_an_array_with_decoders_at_its_edge_is_proved_and_swapped_decoders_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: dict[str, Any] = {"a": "e4m3", "b": "e4m3", "c": "fp16", "L": 2, "F": 9, "rho": "RNE-FP16", "e_zero": -20}
    unit = Unit(name="fp8", operation=TFDPA(**keys), implementation=Implementation(stages=1), array=ARRAY)
    file = tmp_path / "array.toml"
    file.write_text(unit_to_toml(unit), encoding="utf-8")
    assert main(["prove", "--unit", str(file)]) == 0
    assert capsys.readouterr().out.startswith("unit fp8, 2x2 array, ones-complement, 1 stage: proved\n")
    file.write_text(unit_to_toml(replace(unit, array=replace(ARRAY, feed="systolic"))), encoding="utf-8")
    assert main(["prove", "--unit", str(file)]) == 0
    assert capsys.readouterr().out.startswith("unit fp8, 2x2 array, ones-complement, 1 stage: proved\n")
    shown = DecodedDatapath.decoded
    monkeypatch.setattr(
        DecodedDatapath,
        "decoded",
        lambda self, build, operand, place, codes: shown(self, build, operand, place, codes[::-1]),
    )
    file.write_text(unit_to_toml(unit), encoding="utf-8")
    assert main(["prove", "--unit", str(file)]) != 0


@pytest.mark.slow
def test_a_datapath_of_several_formats_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for name, count in (("e4m3", 2), ("e2m1", 4)):
        keys: dict[str, Any] = {"a": name, "b": name, "c": "fp16", "L": count, "F": 9, "rho": "RNE-FP16", "e_zero": -20}
        unit = Unit(name=name, operation=TFDPA(**keys), implementation=Implementation(stages=2))
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(unit_to_toml(unit), encoding="utf-8")
    assert main(["prove", "--unit", str(files[0]), "--also", str(files[1])]) == 0
    told = capsys.readouterr().out
    assert told.startswith("e4m3 in 2 formats, ones-complement, 2 stages: proved\n")
    assert "  handshake: 21 of 21 obligations proved\n" in told


@pytest.mark.long
@pytest.mark.simulator
def test_a_pipeline_that_mixes_up_transfers_is_shown_in_cycles(
    pipelined_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = to_verilog
    fault = ("takes_accumulate ? max_exp_sum_exp : accumulate_sum_exp", "1'h1 ? max_exp_sum_exp : accumulate_sum_exp")
    monkeypatch.setattr(prove, "to_verilog", lambda design, top: sound(design, top).replace(*fault))
    assert main(["prove", "--unit", pipelined_file, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert any("stage 2 holds what it is meant to" in name for name in found["not_proved"])
    cycles = found["counterexample"]["cycles"]
    assert cycles[0] == "cycle 0: rst"
    assert "expected" in cycles[-1]
