"""Which edits of the sources take a recorded proof away: those of Verilog, specification or questions, and no others.

A copy of the project is edited; a program in it looks a unit up, as `mmau rtl` and `mmau list` do.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from mmau.jobs.provenance import ROOT

PROGRAM = """
import json, sys
# An editable installation's finder comes before PYTHONPATH.
sys.meta_path = [each for each in sys.meta_path if not type(each).__module__.startswith("_editable")]
from dataclasses import asdict
from pathlib import Path
from golden import Implementation, Unit
from golden.operations import TFDPA
from mmau.prove.records import Records, asked_by, made_of
from mmau.jobs.provenance import ROOT
from mmau.jobs.provenance import sealed
from rtl import to_verilog
from rtl.designs.identity import operation_key, unit_key, verilog_digest
from rtl.designs.unit_design import UnitDesign

assert Path.cwd() == ROOT, ROOT
operation = TFDPA(a="e2m1", b="e3m2", c="fp16", L=2, F=9, rho="RNE-FP16", e_zero=-20)
unit = Unit(name="unit", operation=operation, implementation=Implementation())
if sys.argv[1] == "record":
    from mmau.prove.proof_identity import put_together
    row = {"name": "unit", "kind": "datapath", "built": "ones-complement", "verdict": "proved", "obligations": 1,
           "steps": {"d": [1, 1]}, "solvers": ["z3"], "assumed": [], "not_proved": [], "problem": "",
           "design": unit_key(unit), "arithmetic": operation_key(operation),
           **asdict(put_together("datapath", UnitDesign(unit))[0])}
    recorded = {"date": "2026-11-22", "made_of": dict(made_of()), "asked_by": asked_by(), "subjects": [row]}
    Path("proofs.json").write_text(sealed(recorded))
    run = {"operation": "T-FDPA", "vectors": 7, "mismatches": 0, "passed": True, "design": row["design"],
           "verilog": row["verilog"], "specification": row["specification"]}
    of_operation = {"date": "2026-11-22", "made_of": dict(made_of())}
    Path("runs.json").write_text(sealed({"operations": {"T-FDPA": of_operation}, "runs": [run]}))
found = Records(Path("proofs.json"), Path("runs.json"))
known = found.of_design(UnitDesign(unit), verilog_digest(to_verilog(unit)))
print(json.dumps({"changed": found.changes(), "why_not": known.as_dict()["why_not"],
                  "listed": [(each.proved is not None, each.is_compared) for each in found.of_operation(operation)]}))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which a unit's proof and simulation are recorded."""
    copy = tmp_path_factory.mktemp("project")
    for package in ("golden", "rtl", "cosim", "mmau"):
        shutil.copytree(ROOT / package, copy / package)  # with what is compiled, which holds until a file has another date
    found = looked_up(copy, "record")
    assert found == {"changed": [], "why_not": {"simulated": None, "proved": None}, "listed": [[True, True]]}
    return copy


def looked_up(project: Path, what: str = "look up") -> dict[str, object]:
    """The program's output in a copy of the project."""
    environment = os.environ | {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, what]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


class Edit(NamedTuple):
    """An edit of a file, and the evidence after it.

    Attributes:
        file: in the project. old, new: text to be replaced, once.
        changed: the names in `made_of` that differ after it.
        simulated, proved: whether the record counts after it.
        listed: of each datapath that `mmau list` counts, whether it is proved, and compared.
    """

    file: str
    old: str
    new: str
    changed: list[str]
    simulated: bool
    proved: bool
    listed: list[list[bool]]


SPECIFICATION, PROOF, NORMALISE = (
    "mmau/prove/specification/steps.py", "mmau/prove/datapath/kernel.py", "rtl/steps/normalise.py",
)  # fmt: skip
COMPARED, NOT_COMPARED = [[True, True]], [[True, False]]

EDITS = {
    "a comment": Edit(SPECIFICATION, "    back = ", "    # shifted left\n    back = ", [], True, True, COMPARED),
    "a docstring": Edit(NORMALISE, "Combinational normaliser", "Normaliser", [], True, True, COMPARED),
    "a name within the specification": Edit(
        SPECIFICATION, "exact = total(signed_terms(aligned))", "terms = signed_terms(aligned)\n    exact = total(terms)",
        ["sources"], True, True, NOT_COMPARED,
    ),
    "a name within the generator": Edit(
        NORMALISE, "    tops = top_exps(total)\n", "    tops = exps = top_exps(total)\n",
        ["sources"], True, True, NOT_COMPARED,
    ),
    "a step of the specification": Edit(
        SPECIFICATION, '"RZ":\n        return Aligned(term.sign, kept)', '"RZ":\n        return Aligned(~term.sign, kept)',
        ["sources"], False, False, [],
    ),
    "a question dropped": Edit(
        PROOF, "        if not left:\n", '        if not left or name == "d":\n',
        ["sources", "prover"], True, False, NOT_COMPARED,
    ),
    "a premise added to questions": Edit(
        PROOF, "[*assumed, negated]) if assumed else negated", "[*assumed, *left[:1], negated])",
        ["sources", "prover"], True, False, NOT_COMPARED,
    ),
    "the Verilog": Edit(
        "rtl/steps/specials.py", "pos_inf & neg_inf", "neg_inf & pos_inf",
        ["sources"], False, False, NOT_COMPARED,
    ),
}  # fmt: skip

QUICK = ("a comment", "a step of the specification", "a question dropped")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in EDITS])
def test_a_record_stands_until_what_it_is_about_is_edited(name: str, project: Path) -> None:
    edit = EDITS[name]
    path = project / edit.file
    before = path.read_text(encoding="utf-8")
    assert edit.old in before
    path.write_text(before.replace(edit.old, edit.new, 1), encoding="utf-8")
    try:
        found = looked_up(project)
    finally:
        path.write_text(before, encoding="utf-8")
    line = "the recorded {} of this design is for another text"
    assert found == {
        "changed": edit.changed,
        "why_not": {
            "simulated": None if edit.simulated else line.format("simulation"),
            "proved": None if edit.proved else line.format("proof"),
        },
        "listed": edit.listed,
    }
