"""The whole list in the stand-in: from a clean tree, uninstalled, on NumPy and ml_dtypes alone, killed and resumed."""

import json
import os
import re
import shutil
import signal
import subprocess
import venv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import golden
from golden.catalogue.recorded import disagreeing, table
from golden.native.library import library
from golden.recordings import recording_index
from studies.lent_minutes.prebuild import MOST_BYTES
from studies.lent_minutes.records import Records
from studies.lent_minutes.unpack import unpack

ROOT = Path(__file__).resolve().parents[3]
STAND_IN = Path(__file__).with_name("stand_in")
SPARSE = "mma.sp.m16n8k16.f32.tf32.tf32.f32"

ENOUGH = "100000"
"""Seconds of a call: more than a busy machine takes, so that no share of an item ends before its units."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tree`, what is committed or would be, with the native library; `python`, without packages; `site`, with NumPy,
    ml_dtypes and the place of cuBLASLt."""
    folder = tmp_path_factory.mktemp("machine")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / "tree" / name)
    native = library()
    assert native is not None
    shutil.copyfile(native._name, folder / "tree" / "golden" / "native" / Path(native._name).name)
    venv.create(folder / "python", with_pip=False)
    packages = folder / "site"
    packages.mkdir()
    for package in ("numpy", "ml_dtypes"):
        at = Path(__import__(package).__file__ or "").parent
        for name in (at.name, f"{at.name}.libs"):
            if (at.parent / name).exists():
                (packages / name).symlink_to(at.parent / name)
    libraries = packages / "nvidia" / "cu13" / "lib"
    libraries.mkdir(parents=True)
    compiled = [*os.environ.get("CC", "cc").split(), "-O1", "-shared", "-fPIC", "-o", str(libraries / "libcublasLt.so.13")]
    subprocess.run([*compiled, str(STAND_IN / "cublaslt.c")], check=True)
    return folder


def test_tree_with_the_library_and_the_kernels_is_small_enough(machine: Path) -> None:
    """What is taken to a machine: 64 MiB at most."""
    files = [path for path in (machine / "tree").rglob("*") if path.is_file()]
    assert (machine / "tree" / "golden" / "native" / "_mmau.so") in files
    assert sum(path.stat().st_size for path in files) + MOST_BYTES <= 64 << 20


def started(machine: Path, out: Path, *options: str, **variables: str) -> subprocess.Popen[str]:
    """The command, in the tree."""
    tree = machine / "tree"
    paths = (tree / STAND_IN.relative_to(ROOT), machine / "site", tree)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths)), **variables}
    command = [str(machine / "python" / "bin" / "python"), "-m", "studies.lent_minutes", *options, str(out)]
    return subprocess.Popen(command, cwd=tree, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def lines_until(process: subprocess.Popen[str], beginning: str) -> list[str]:
    """The lines that it prints, until one begins so; that one is the last."""
    assert process.stdout is not None
    found = []
    for line in process.stdout:
        found.append(line.rstrip("\n"))
        if line.startswith(beginning):
            break
    return found


def ended_units(out: Path) -> Counter[tuple[str, str]]:
    """How often each unit was recorded as done."""
    lines = [
        json.loads(line) for path in sorted(out.iterdir()) for line in path.read_text().splitlines() if line.endswith("}")
    ]
    return Counter((line["item"], line["unit"]) for line in lines if line.get("entry", {}).get("status") == "done")


def killed_thrice(machine: Path, out: Path) -> None:
    """Four calls, of which three are killed: at an instruction, at a product, and at a comparison of models."""
    shown: list[str] = []
    for killed_at in (f"instructions: {SPARSE}: done", "products: fp16 ", "models: equal fp16 "):
        process = started(machine, out, "--seconds", ENOUGH)
        shown += lines_until(process, killed_at)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    process = started(machine, out, "--seconds", ENOUGH)
    rest, _ = process.communicate()
    shown += rest.splitlines()
    assert process.returncode == 0, "\n".join(shown)
    assert shown[-1] == "complete"


def test_list_that_is_killed_thrice_comes_to_its_end_and_does_nothing_twice(machine: Path, tmp_path: Path) -> None:
    """What comes back is one small file, and becomes recordings and tables."""
    killed_thrice(machine, tmp_path / "out")
    check_results(tmp_path / "out")
    check_unpacked(tmp_path / "out", tmp_path)


def check_results(out: Path) -> None:
    """Every unit was done once, and nothing differs."""
    counts = ended_units(out)
    assert set(counts.values()) == {1}
    assert Counter(item for item, _ in counts) == {
        "instructions": 8,
        "products": 62,
        "conversions": 9,
        "models": 8,
        "timed again": 84,
    }
    records = Records(out)
    assert {run["item"] for run in records.runs} == {"instructions", "products", "conversions", "models", "timed again"}
    assert len(records.runs) == 8  # three workers died with their command
    for name, entry in records.units["instructions"].items():
        if name != "engine":
            assert sum(entry["vectors"].values()) >= 30_000
            assert not any(entry["mismatches"].values())
            assert entry["rows_done"]
    products = records.units["products"]
    assert "torch" in products["ties of tf32 by PyTorch"]["refused"]
    assert {len(entry["elements"]) for name, entry in products.items() if "x" in name} == {128, 512}  # one D has 16
    for name, entry in records.units["models"].items():
        assert len(entry["vectors"]) == (1 if name.startswith("speed ") else 6)
        assert not any(entry["mismatches"].values())
        assert name.startswith("equal ") or entry["products_per_second"] * entry["times_the_card"] > 0
    assert not any(entry["differ"] for entry in records.units["conversions"].values())
    (path,) = out.iterdir()
    assert path.name == "results-001.jsonl"
    assert path.stat().st_size < 4 << 20


def check_unpacked(out: Path, folder: Path) -> None:
    """The rows are the model's, so that it reproduces them; no stand-in's rows become evidence."""
    kept = folder / "kept"
    kept.mkdir()
    assert unpack(out, folder / "into", "h0", kept=kept) == 7
    listed = recording_index.read_index(kept)
    assert len(listed) == 7
    assert {entry["rows"] for entry in listed.values()} == {512}
    assert disagreeing(kept) == {}
    with pytest.raises(ValueError, match=r"is no evidence: stand-in, not a device made it"):
        table(kept)
    sparse = recording_index.read_listed(kept, f"h0/sm_90.{SPARSE}.npz")
    assert sparse.operands.b.shape == (512, golden.instruction("sm_90", SPARSE).k)
    assert "under every selection" in sparse.header.note
    products: dict[str, Any] = json.loads((folder / "into" / "products.json").read_text())["units"]
    assert any("explained_by" in entry for entry in products.values())
    assert (folder / "into" / "tables.txt").exists()


@pytest.mark.attack("a kernel that writes one element of a tile wrong")
def test_wrong_result_is_found_and_tried_again_where_it_is_asked_for(machine: Path, tmp_path: Path) -> None:
    process = started(machine, tmp_path, MMAU_STAND_IN=SPARSE)
    lines_until(process, f"instructions: {SPARSE}: ")
    process.kill()
    process.communicate()
    entry = Records(tmp_path).units["instructions"][SPARSE]
    assert entry["status"] == "failed"
    assert re.match(r"wrong layout \(metadata 0x4 selects 0\): \d+ of \d+ elements of small-integer tiles", entry["detail"])
    process = started(machine, tmp_path, "--retry")
    lines_until(process, f"instructions: {SPARSE}: ")
    process.kill()
    process.communicate()
    assert Records(tmp_path).units["instructions"][SPARSE]["status"] == "done"
