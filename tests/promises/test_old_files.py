"""Files of 1.0.0 are read as then."""

import json
from pathlib import Path

import numpy as np

import cosim
import golden
from cosim.coverage import file as coverage_file
from golden.recordings.recording import read
from hwtests.conform.campaign import load_report
from mmau.explore.space_file import load_space
from mmau.jobs.provenance import unsealed
from mmau.probe.device_under_test import dut_of
from mmau.probe.journal import Journal
from mmau.prove.records import proof_of, proof_rows
from tests.promises.old_files import FILES

UNIT = golden.load_unit(FILES / "unit.toml")


def test_unit_gives_the_results_of_its_vectors() -> None:
    """The file, the text of vectors with a0, a1, b0, b1, c, d in a line, and the arrays of the same rows."""
    text = [line.split() for line in (FILES / "vectors.txt").read_text().splitlines() if not line.startswith("#")]
    rows = np.array([[int(word, 16) for word in line] for line in text], np.uint16)
    a, b, c, d = rows[:, :2].astype(np.uint8), rows[:, 2:4].astype(np.uint8), rows[:, 4], rows[:, 5]
    assert np.array_equal(UNIT.dot(a, b, c), d)
    with np.load(FILES / "vectors.npz") as arrays, np.load(FILES / "d.npz") as results:
        assert all(np.array_equal(arrays[name], array) for name, array in (("a", a), ("b", b), ("c", c), ("d", d)))
        assert np.array_equal(results["d"], d)
    assert len(d) == 20
    built = UNIT.implementation
    assert (built.encoding, built.stages, built.max_exp) == ("sign-magnitude", 1, "tree")


def test_unit_with_a_chain_gives_its_result() -> None:
    """Elements of 1 and 1.125: 1 + 4 · 1.125 = 5.5 in fp32."""
    chain = golden.load_unit(FILES / "chain.toml")
    ones, more = np.full((1, 4), 0x38, np.uint8), np.full((1, 4), 0x39, np.uint8)
    assert chain.dot(ones, more, np.array([0x3F800000], np.uint32)).tolist() == [0x40B00000]
    assert (chain.operation.sticky, chain.operation.overflow) == (True, "saturate")  # type: ignore[attr-defined]


def test_design_is_described_as_before() -> None:
    dut = cosim.load_dut(FILES / "dut.toml")
    assert (dut.top, dut.protocol, dut.latency, dut.clock, dut.enable) == ("dot4", "fixed-latency", 3, "clk_i", "en_i")
    assert dut.reset == cosim.Reset(name="rst_ni", active="low", asynchronous=True)
    assert dut.ports == {"a": ("a0_i", "a1_i", "a2_i", "a3_i"), "b": ("b_i",), "c": ("c_i",), "d": ("d_o",)}
    assert (dut.order, dut.tie, dut.compare) == ("descending", {"flush_i": 0}, cosim.Compare("any", "ignore"))
    assert (dut.defines, dut.parameters) == ({"SYNTHESIS": "1"}, {"L": "4"})


def test_order_of_a_product_is_read_as_before() -> None:
    order = golden.load_order(FILES / "gemm.toml")
    assert order == golden.GemmOrder(model=UNIT, promote_every=4, split_k=2, split_tile=8)


def test_space_has_the_same_points() -> None:
    space = load_space(FILES / "space.toml")
    points = list(space.points())
    assert (space.name, len(points), len(list(space.reference_points()))) == ("fp8-accumulation", 46, 4)
    assert [points[0].name, points[-1].name] == ["L=16 F=8", "L=32 F=30"]


def test_recording_is_read_and_reproduced() -> None:
    recording = read(FILES / "sm_70.mma.m8n8k4.f32.f16.f16.f32.npz")
    assert np.array_equal(recording.dot(), recording.d)
    assert (len(recording), recording.header.kind) == (89, "silicon")


def test_report_of_a_conformance_run_can_be_resumed() -> None:
    report = load_report(FILES / "conform-report.json", seed=0, vectors=200)
    assert (report.complete(), report.agreed(), report.instructions["vdpbf16ps"].total()) == (True, True, 20_480)


def test_journal_of_a_probe_can_be_resumed() -> None:
    dut = dut_of(UNIT)
    with np.load(FILES / "journal.npz") as arrays:
        header = json.loads(arrays["header"].tobytes())
    journal = Journal(dut.name, dut.shape, FILES / "journal.npz", header["identity"])
    printed = json.loads((FILES / "printed" / "probe.json").read_text())
    assert len(journal.answers) == printed["evidence"] == 216
    assert list(journal.validated.values()) == [printed["validated"]]


def test_coverage_can_be_added_to(tmp_path: Path) -> None:
    copy = tmp_path / "coverage.json"
    copy.write_bytes((FILES / "coverage.json").read_bytes())
    (counts,) = coverage_file.read(copy)
    (together,) = coverage_file.add(copy, [counts])
    assert (counts.rows, together.rows) == (300, 600)


def test_recorded_proof_is_read() -> None:
    (row,) = proof_rows(unsealed((FILES / "proofs.json").read_bytes()))
    proof = proof_of(row)
    assert proof is not None
    assert (row["name"], sum(proof.steps.values())) == ("sm_70 mma.m8n8k4.f32.f16.f16.f32", 36)
