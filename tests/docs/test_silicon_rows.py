"""The table of recorded processors in docs/guides/silicon.md is that of the recordings."""

import re
from collections import Counter

import golden
from golden.recordings.recording_index import FOLDER, read_index
from hwtests.cpu.host_processor import ARCHITECTURES
from tests.docs.documents import ROOT


def recorded_rows() -> Counter[str]:
    """Rows by instruction, K aside, of the recordings."""
    rows = Counter(
        {instruction.name.partition(".")[0]: 0 for arch in ARCHITECTURES for instruction in golden.instructions(arch)}
    )
    for entry in read_index(FOLDER).values():
        if entry["arch"] in ARCHITECTURES:
            rows[entry["instruction"].partition(".")[0]] += entry["rows"]
    return rows


def test_rows_of_every_instruction() -> None:
    text = (ROOT / "docs" / "guides" / "silicon.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| [^|]* \| ([\d,]+|none)[^|]* \| [^|]* \| (?:0|unmeasured) \|$", text, re.MULTILINE)
    described = {name: int(rows.replace(",", "")) if rows != "none" else 0 for name, rows in table}
    assert described == recorded_rows()
