"""The summary says what was not compared."""

import pytest

from studies.h200.state import State
from studies.h200.summary import summary

CODE = {"HMMA.1688.F32.TF32": 1}


@pytest.mark.parametrize(
    ("entries", "unknown"),
    [
        ({"self-test": {"sha256": {"": "1", "registers": "2"}, "machine_code": {"": {}, "registers": {}}}}, 2),
        (
            {
                "self-test": {
                    "sha256": {"": "1", "registers": "2"},
                    "machine_code": {"": CODE, "registers": {}},
                }
            },
            1,
        ),
        ({"recordings": {"sha256": {"": "1"}, "machine_code": {}}, "volume": {"sha256": {"": "1"}, "machine_code": {}}}, 1),
        ({"recordings": {"sha256": {"": "1"}, "machine_code": CODE}, "volume": {"sha256": {}, "machine_code": {}}}, 0),
        ({"sparse and integers": {"sha256": "3", "machine_code": {}}}, 1),
        ({"sparse and integers": {"sha256": "3", "machine_code": CODE}}, 0),
    ],
)
def test_kernels_of_unknown_machine_code_are_counted(entries: dict[str, dict[str, object]], unknown: int) -> None:
    state = State(done={stage: {"x": {"status": "done"} | entry} for stage, entry in entries.items()})
    line = f"machine code unknown of {unknown} kernels: no disassembler (nvdisasm) was at hand"
    assert (line in summary(state).splitlines()) == bool(unknown)
    assert ("machine code unknown" in summary(state)) == bool(unknown)
