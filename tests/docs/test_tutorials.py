"""docs/guides/tutorials, each page from an empty folder to its end: files are saved, blocks run, outputs are as shown."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.documents import ROOT, Block, blocks, commands
from tests.docs.python_blocks import run_blocks
from tests.docs.test_own_design import holds, run

TUTORIALS = sorted((ROOT / "docs" / "guides" / "tutorials").glob("*.md"))

STATUS = re.compile(r"  # ends with status (\d+)$", re.MULTILINE)

AVX512_BF16 = "avx512_bf16" in (Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else "")


def file_of(block: Block) -> str:
    """The file in which a reader saves a block: the last one that the page names in backticks before it."""
    before = "".join(block.document.read_text(encoding="utf-8").splitlines(keepends=True)[: block.line - 2])
    return re.findall(r"`([\w.]+\.(?:sv|toml))`", re.sub(r"^```.*?^```", "", before, flags=re.MULTILINE | re.DOTALL))[-1]


def statuses(block: Block) -> list[int]:
    """The exit status that a shell block says of each command; 0 where it says none."""
    return [int(found[1]) if (found := STATUS.search(line)) else 0 for line in block.text.splitlines()]


def run_page(page: tuple[Block, ...], folder: Path) -> int:
    """Do what a page says, in order; how many outputs and values were compared.

    Raises:
        AssertionError: a command ends with another status than the page says, or an output lacks what it shows.
    """
    namespace: dict[str, Any] = {}
    output, compared, absent = "", 0, False
    for block in page:
        match block.language:
            case "python":
                values = run_blocks([block], namespace)
                assert values > 0, f"{block} gives no value that the page says"
                compared += values
            case "sh":
                output = ""
                for words, status in zip(commands(block), statuses(block), strict=True):
                    absent = words[:2] == ["mmau", "conform"] and not AVX512_BF16
                    got, more = run(words, folder)
                    assert got == (2 if absent else status), f"{block}: {' '.join(words)} ended with status {got}"
                    output += more
            case "text" if not absent:
                assert holds(output, block.text), f"{block} is not what the commands before it print:\n{output}"
                compared += 1
            case "toml" | "systemverilog":
                (folder / file_of(block)).write_text(block.text, encoding="utf-8")
    return compared


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize("document", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs_from_an_empty_folder(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(blocks(document), tmp_path) >= 3
