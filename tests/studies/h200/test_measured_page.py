"""The page of a GPU: it is what its facts give, the facts are what the job found, and a difference does not pass quietly."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from studies.h200.measured_facts import facts, group_of, load_state
from studies.h200.measured_page import JSON, PAGE, among, beside, main, page
from studies.h200.state import STAGES, State, save
from studies.microbenchmarks.run import Measured, write_points

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "evidence"
SELF_TEST, RECORDINGS, TILES, BENCHMARKS, VOLUME = STAGES
FP8 = "mma.m16n8k32.f32.e4m3.e4m3.f32"

MACHINE = "Python 3.12.3\nnumpy                 2.5.2\ncupy-cuda13x  14.2.0\nnvidia-cuda-nvrtc 13.0.88\n"
LISTING = "\t\tFunction : w8_f64\n  /*0140*/  DMMA.884 R8, R2 ;\n\t\tFunction : w8_f64\n  /*0170*/  DMMA.8x8x4 R8 ;\n"
FOUND = """\
found       T-FDPA
            L = 8
            e_zero = -132
            sticky = false   the same results with true: no difference in 9 vectors chosen to show one
tree        d
evidence    271 vectors, none not reproduced; 5 models failed before
validation  1000 random vectors, no difference
"""


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "status": "done", "vectors": {"bits": 90, "ties": 10}, "mismatches": {}, "nans": {"0x7fffffff": 7},
        "negative_zeros": 1, "e_zero_results": 50, "e_zero_cases": 3, "seconds": 0.5, "orders": {}, "order_rows": 0,
    } | changes  # fmt: skip


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A complete job: state, results, and what else was run on the machine."""
    names = ["wgmma.m64n8k8.f32.tf32.tf32", "wgmma.m64n16k8.f32.tf32.tf32", FP8]
    run = {
        "started": "2026-01-02", "commit": "0123456789", "first_results": "4 s", "driver": "1", "largest_sm_clock": "2 MHz",
        "memory_clock": "3 MHz", "sm_clock": "1 MHz", "temperature": "40", "power": "50 W",
    }  # fmt: skip
    done: dict[str, dict[str, dict[str, Any]]] = {
        SELF_TEST: {"engine": {"status": "done", "compared": 12}, names[0]: {"status": "done"}},
        RECORDINGS: {FP8: entry(orders={"in-order": 4, "pairs-of-four": 0}, order_rows=9)},
        VOLUME: {name: entry() for name in names},
    }
    planned = {stage: list(entries) for stage, entries in done.items()}
    device = {"device": "NVIDIA H0", "arch": "sm_90", "compiler": "NVRTC 13.0"}
    save(tmp_path, State(device=device, runs=[run], done=done, planned=planned))
    for folder in ("tiles", "microbenchmarks", "logs"):
        (tmp_path / folder).mkdir()
    report = {"mma.sp.x": {"compared": 5, "explained_by": ["L=8"], "wrong": {"L=8": 0, "L=4": 3, "L=16": 2}}}
    (tmp_path / "tiles" / "hypotheses.json").write_text(json.dumps(report))
    points = [
        Measured("a", "FMA", 1, 1, 29.0, 8.0),
        Measured("a", "FMA", 2, 4, 31.0, 60.0),
        Measured("a", "FMA", 3, 4, 0, 0, "no"),
    ]
    write_points(tmp_path / "microbenchmarks" / "points.csv", points)
    logs = {"machine.txt": MACHINE, "wmma.txt": LISTING, "mma.m16n8k8.f32.tf32.tf32.f32.log": FOUND,
            "mma.m16n8k8.f32.tf32.tf32.f32.toml": "", "products.log": "no probe"}  # fmt: skip
    for name, text in logs.items():
        (tmp_path / "logs" / name).write_text(text)
    return tmp_path


def found_in(job: Path) -> dict[str, Any]:
    return facts(load_state(job), job, job / "logs")


def test_page_is_that_of_its_facts() -> None:
    found = json.loads((FOLDER / JSON).read_text(encoding="utf-8"))
    written = (FOLDER / PAGE).read_text(encoding="utf-8")
    assert page(found) == written, "run make h100"
    for name in found:
        changed = deepcopy(found)
        del changed[name]
        with pytest.raises(KeyError):
            page(changed)


@pytest.mark.attack("one result that differs at volume, or in a recording, in the facts of the page")
@pytest.mark.parametrize("where", ["volume", "recordings"])
def test_result_that_differs_stands_on_the_page(where: str) -> None:
    found = json.loads((FOLDER / JSON).read_text(encoding="utf-8"))
    found[where][FP8]["differ"] = 1
    assert ": 1 differ.**" in page(found)
    assert "| **1** |" in page(found)


def test_facts_are_those_of_the_job(job: Path) -> None:
    found = found_in(job)
    assert found["volume"]["wgmma.m64nNk8.f32.tf32.tf32"] == {
        "instructions": 2, "results": 200, "differ": 0, "nans": {"0x7fffffff": 14}, "negative zeros": 2, "e_zero": [100, 6],
        "seconds": 1.0,
    }  # fmt: skip
    assert found["generators"] == {"bits": 270, "ties": 30}
    assert found["orders"] == {FP8: {"rows": 9, "wrong": {"in-order": 4, "pairs-of-four": 0}}}
    assert found["tiles"] == {"mma.sp.x": {"compared": 5, "explained by": ["L=8"], "others wrong": 2}}
    assert found["timed"] == [["a", "FMA", 29.0, 60.0, 4, 2]]
    assert found["wmma"] == {"w8_f64": [{"DMMA.884": 1}, {"DMMA.8x8x4": 1}]}
    assert found["software"]["numpy"] == "2.5.2"
    assert found["machine"]["driver"] == "1"


def test_page_is_written_from_the_jobs_folders(job: Path, tmp_path: Path) -> None:
    main(tmp_path, job, job, job / "logs")
    assert (tmp_path / PAGE).read_text(encoding="utf-8") == page(found_in(job))


@pytest.mark.attack("facts of a job in which something is open, failed or differs")
@pytest.mark.parametrize(
    "changes", [{"status": "running"}, {"status": "failed"}, {"mismatches": {"ties": 1}}], ids=["open", "failed", "differs"]
)
def test_job_that_is_open_or_disagrees_has_no_page(changes: dict[str, Any], job: Path) -> None:
    state = load_state(job)
    state.done[VOLUME][FP8] = entry(**changes)
    with pytest.raises(ValueError, match=r"^the job must be complete and nothing may differ before its page is written"):
        facts(state, job, job / "logs")


def test_folder_without_a_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must hold the state of the job, state\.json; it holds none$"):
        load_state(tmp_path)


@pytest.mark.attack("a log of the probe whose model failed the validation")
def test_probe_that_did_not_end_well_is_refused(job: Path) -> None:
    log = job / "logs" / "mma.m16n8k8.f32.tf32.tf32.f32.log"
    log.write_text(FOUND.replace("1000 random vectors, no difference", "3 of 1000 random vectors fail"))
    with pytest.raises(ValueError, match=r"a validation without difference$"):
        found_in(job)


def test_key_beside_the_catalogues_is_named(job: Path) -> None:
    """The log says −132, and the catalogue −133; what it cannot tell is no difference."""
    ((name, found),) = found_in(job)["probe"].items()
    assert list(beside(name, found)) == ["the catalogue has **e_zero -133**"]
    found["keys"]["e_zero"] = ["-132", "-1024 … -130"]
    assert list(beside(name, found)) == []
    assert next(iter(beside(FP8, found))) == "the catalogue has **converted T-FDPA**"


def test_values_alike() -> None:
    assert among("-21", "-1024 … 7")
    assert not among("8", "-1024 … 7")
    assert among("saturate", "by-mode, saturate")
    assert not among("mode", "by-mode, saturate")


def test_group_leaves_out_n_of_wgmma_alone() -> None:
    assert group_of("wgmma.m64n128k16.f32.f16.f16") == "wgmma.m64nNk16.f32.f16.f16"
    assert group_of(FP8) == FP8
