"""Shell lines of the pages that no other test runs: each ends as it should and prints what is shown below it, in a folder
that looks like the project's."""

import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from golden.recordings.recording_index import write
from tests.docs import test_answers, test_own_design, test_readme_story, test_tutorials
from tests.docs.documents import ROOT, Block, all_blocks, blocks, commands
from tests.docs.test_own_design import holds, run
from tests.docs.test_tutorials import AVX512_BF16
from tests.hwtests.model_recordings import made_by_the_model
from tests.mmau.cli.test_explore import TINY

LANES = ROOT / "tests" / "third_party" / "lanes"

RUN_ELSEWHERE = {*test_tutorials.TUTORIALS, *test_answers.ANSWERS, test_own_design.DOCUMENT}
"""Pages whose lines run in order, in a test of their own; so do the README's stories."""

CI = "continuous integration runs it: .ci/run"
INSTALLS = "it changes the environment of the tests; .ci/wheel, test_first_mismatch.py and make's own set-up install these"
CLONES = "it needs the network; tests/mmau/prove/user_design/test_published_designs.py proves what the page describes"

NOT_RUN = {
    "make test": CI,
    "make lint types": CI,
    "make cosim": CI,
    "make test-all": "continuous integration runs make test, and a half of make test-merge, with optional tools",
    ".venv/bin/pytest tests/golden -k twin": "a part of make test",
    "make formal": "half an hour; continuous integration runs make formal-main",
    "make mutants": "ten minutes; tests/studies/mutants runs it on one unit",
    "make release": "six minutes, from a commit without changes; tests/studies/release runs its parts",
    "pip install .": INSTALLS,
    "pip install '.[cosim]'": INSTALLS,
    "pip install '.[formal]'": INSTALLS,
    "dask scheduler --port 8786": "it runs until it is stopped; tests/mmau/jobs/test_cluster.py starts both",
    "dask worker tcp://host:8786 --nworkers 8 --nthreads 1": "it needs a machine called host; likewise",
    "mmau explore space.toml --out DIR --scheduler tcp://host:8786": "likewise",
    "git clone https://github.com/openhwgroup/cvfpu": CLONES,
    "git -C cvfpu checkout 0ad2cd7": CLONES,
    "git clone https://github.com/pulp-platform/common_cells": CLONES,
    "git -C common_cells checkout 6aeee85": CLONES,
    "mmau prove --unit fma.toml --dut cvfpu.toml --seconds 600": CLONES,
    "mmau prove --unit fma.toml --dut cvfpu.toml --seconds 20 --store answers": CLONES,
    "mmau prove --unit fma.toml --dut cvfpu.toml --seconds 600 --store answers": CLONES,
    "mmau order --a A.npy --b B.npy --d D.npy --part H100 -o gemm.toml": "tests/mmau/cli/test_order.py runs it so",
    "mmau explore examples/spaces/round-down.toml --out build/round-down": "an hour",
    "mmau explore examples/spaces/fp8-accumulators-7nm.toml --out build/fp8-accumulators-7nm": "ASAP7's cells, and minutes",
    "mmau explore examples/spaces/mxfp4-or-nvfp4.toml --out build/mxfp4-or-nvfp4": "ASAP7's cells, and minutes",
}
"""Lines that are not run, and why."""

STATUS = {
    "mmau distinguish sm_80:mma.m16n8k16.f32.f16.f16.f32 sm_90:mma.m16n8k16.f32.f16.f16.f32": 1,
    "mmau distinguish sm_80:mma.m16n8k8.f32.f16.f16.f32 sm_90:mma.m16n8k8.f32.f16.f16.f32": 1,
}
"""The exit status of a line, where it is not 0."""


THEN = " && "

IN_ORDER = ("cmake",)
"""Programs of blocks that run as a whole: each line needs what those before it left."""


def lines_of(block: Block) -> list[str]:
    """The lines of a block; of one that runs as a whole, all in one."""
    found = [shlex.join(words) for words in commands(block)]
    return [THEN.join(found)] if found[0].split()[0] in IN_ORDER else found


def lines() -> list[str]:
    """The lines of all other pages, each once."""
    stories = set(map(shlex.join, test_readme_story.STORY))
    found = {line for block in all_blocks("sh") if block.document not in RUN_ELSEWHERE for line in lines_of(block)}
    return sorted(found - stories)


def shown_outputs() -> dict[str, str]:
    """The output that a page shows of a line, in the block `text` after that of the line. Programs write docs/evidence."""
    found = {}
    pages = {block.document for block in all_blocks("sh") if "evidence" not in block.document.parts}
    for document in pages - RUN_ELSEWHERE:
        for block, after in pairwise(blocks(document)):
            if (block.language, after.language) == ("sh", "text") and not is_no_output(after):
                found[lines_of(block)[-1]] = after.text
    return found


NO_OUTPUT = {
    "unit.toml, or one of": "a picture",
    "AMD EPYC": "measured figures, of which no run prints the same",
    "## mmau 1.0.0: test vectors of fma": "the head of a file",
    "# a=bf16 b=bf16 c=fp32 d=fp32 K=2": "what a program of a reader is asked",
    "first: clock_ns = 6 is met": "measured by OpenSTA in osu018 cells, which take minutes",
    "area and energy against delay": "the same",
}
"""How blocks `text` begin that are no output of the block before them, and what they are."""


def is_no_output(block: Block) -> bool:
    return block.text.startswith(tuple(NO_OUTPUT))


def run_line(line: str, folder: Path, shown: str = "") -> None:
    """Run a line, and compare its exit status and what is shown of its output."""
    for each in line.split(THEN):
        absent = "x86-avx512" in each and not AVX512_BF16
        status, output = run(shlex.split(each), folder)
        assert status == (2 if absent else STATUS.get(each, 0)), f"{each} ended with status {status}:\n{output}"
    assert absent or holds(output, shown), f"{line} does not print what is shown:\n{output}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project's folder as its readers have it, with files of their own: a unit, a design, operands, a space."""
    for name in ("tests", "examples", "golden", "Makefile"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(LANES, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "dut.toml").open("a", encoding="utf-8") as dut:
        dut.write('\n[formats]\na = "fp16"\nb = "fp16"\nc = "fp32"\nd = "fp32"\nK = 4\n')
    (tmp_path / "build").mkdir()
    write(tmp_path / "build", made_by_the_model("sm_90", "mma.m16n8k16.f32.f16.f16.f32", rows=100))
    (tmp_path / "space.toml").write_text(TINY, encoding="utf-8")
    ones = np.ones((3, 16), np.float16)
    np.savez(tmp_path / "v.npz", a=ones, b=ones, c=np.zeros(3, np.float32))
    return tmp_path


def marked(line: str) -> list[pytest.MarkDecorator]:
    """The marks of a line: what it needs."""
    return [pytest.mark.needs(tool) for tool, word in (("aarch64", "qemu-aarch64"), ("cmake", "cmake")) if word in line]


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize(
    "line", [pytest.param(line, id=line, marks=marked(line)) for line in lines() if line not in NOT_RUN]
)
def test_line_ends_as_it_should(line: str, folder: Path) -> None:
    if "build/bfdot" in line:
        source = str(ROOT / "examples" / "program" / "bfdot.c")
        compiler = ["aarch64-linux-gnu-gcc", "-O1", "-static", "-march=armv8.6-a+bf16", source, "-o", "build/bfdot"]
        assert run(compiler, folder)[0] == 0
    run_line(line, folder, shown_outputs().get(line, ""))


def test_lines_that_are_not_run_stand_on_a_page() -> None:
    assert {*NOT_RUN, *STATUS} <= {*lines()}
    targets = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [
        line for line, why in NOT_RUN.items() if why == CI for word in line.split()[1:] if f"make {word}" not in targets
    ] == []
