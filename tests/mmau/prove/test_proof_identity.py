"""The identity of a proof covers every text that it is about, and the committed proofs are of today's texts."""

import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from golden.operations import TFDPA
from mmau.jobs.provenance import ROOT, sources, unsealed
from mmau.prove import proof_identity, records
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, Question
from mmau.prove.proof_identity import identity, operation_specification_digest, questions_digest
from mmau.prove.records import PROOFS, SIMULATIONS, TEXTS
from rtl.designs.identity import design_key
from studies.proofs.proved_designs import targets
from tests.mmau.prove.provable_units import OPERATIONS, SMALL

QUESTIONS = tuple(Question(name, f"; {name}", ()) for name in ("decode_x_0", "decode_x_1", "d"))


@pytest.mark.slow
def test_every_module_that_makes_the_texts_is_among_the_sources() -> None:
    """Those of golden, rtl and formal that are loaded with the module that makes them."""
    files = "(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', 0))"
    script = f"import sys, mmau.prove.proof_identity; print(*{files})"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    files_here = {Path(each).relative_to(ROOT) for each in loaded.split() if each.startswith(f"{ROOT}/")}
    ours = {path for path in files_here if not path.parts[0].startswith(".")}
    among = {path.relative_to(ROOT) for path in sources(records.SOURCES)}
    assert {path.parts[0] for path in ours - among if path.suffix == ".py"} <= {"cosim", "mmau"}
    others = {"/".join(path.parts[:2]) for path in ours - among if path.parts[0] == "mmau"}
    assert others <= {"mmau/__init__.py", "mmau/jobs"}, "list it, or say here that it decides none of the texts"


@pytest.mark.slow
def test_the_specification_of_an_operation_is_a_text_of_its_own() -> None:
    digests = [operation_specification_digest(operation) for operation in OPERATIONS]
    assert len({*digests}) == len(OPERATIONS)
    assert operation_specification_digest.__wrapped__(SMALL) == digests[0]


@pytest.mark.slow
def test_which_port_a_variable_stands_for_is_part_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    """a and b have one width here: with the two exchanged, the script alone is the same text."""
    operation = SMALL.changed(b="e2m1")
    sound = SPECIFICATIONS[TFDPA]
    before = operation_specification_digest.__wrapped__(operation)

    def exchanged(terms: Any, operation: Any, ports: Any, observer: Any) -> Any:
        return sound(terms, operation, {**ports, "a": ports["b"], "b": ports["a"]}, observer)

    monkeypatch.setattr(proof_identity, "SPECIFICATIONS", {TFDPA: exchanged})
    assert operation_specification_digest.__wrapped__(operation) != before


def test_the_digest_of_questions_depends_on_every_text_and_not_on_their_order() -> None:
    assert questions_digest(QUESTIONS) == questions_digest(QUESTIONS[::-1])
    assert len({questions_digest(each) for each in (QUESTIONS, QUESTIONS[:2], QUESTIONS[1:], (), QUESTIONS * 2)}) == 5
    renamed = [replace(each, name="another", wires=("x",)) for each in QUESTIONS]
    assert questions_digest(renamed) == questions_digest(QUESTIONS)


def test_the_committed_outcomes_are_whole() -> None:
    proofs = unsealed(PROOFS.read_bytes())
    assert all(each["design"] and each["arithmetic"] for each in proofs["subjects"])
    assert all(each["verilog"] for each in proofs["subjects"] if each["verdict"] == "proved")
    assert unsealed(SIMULATIONS.read_bytes())["runs"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["datapath", "whole", "pipeline"])
def test_the_committed_proofs_stand(kind: str) -> None:
    """The recorded one of each kind that is the quickest; `make formal-main` and `make formal-compare` compare more."""
    rows = {(row["kind"], row["design"]): row for row in unsealed(PROOFS.read_bytes())["subjects"]}
    of_kind = [
        (rows[key], each)
        for each in targets()
        if each.kind == kind and each.design.name.startswith(("small-0", "x86-avx512"))
        if (key := (kind, design_key(each.design.as_table()))) in rows
    ]
    row, target = min(of_kind, key=lambda pair: int(pair[0]["obligations"]))
    assert asdict(identity(kind, target.design)) == {key: row[key] for key in TEXTS}, "run make formal again"
