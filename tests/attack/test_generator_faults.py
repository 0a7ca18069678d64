"""No proof of a datapath made by a generator with a fault, unless the fault changes no result."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

import pytest

from mmau.jobs.provenance import ROOT
from rtl.verilog.emit import to_verilog
from studies.golden_mutants.mutations import mutations
from tests.attack.faults import FAULTS, SEED, UNITS, faults, modules, unit_of
from tests.attack.faulty_generator import NO_EFFECT

LIMIT = 240.0
"""Seconds for one fault; a proof of a sound unit takes a few."""


@cache
def sound(number: int) -> str:
    """The Verilog of a unit without a fault."""
    return to_verilog(unit_of(number), "unit")


def caught(module: str, number: int, units: Iterable[int] = range(len(UNITS))) -> dict[str, str]:
    """The check that caught a fault in the Verilog of these units."""
    command = [sys.executable, "-m", "tests.attack.faulty_generator", module, str(number)]
    given = json.dumps({each: sound(each) for each in units})
    try:
        done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:  # a generator that never ends
        return {"by": "no verdict"}
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@cache
def sound_is_proved(operation: str) -> bool:
    """Whether the sound generator's units of an operation are proved in the way in which faults are tried: else it says
    nothing that a faulty one is not."""
    units = [number for number in range(len(UNITS)) if unit_of(number).operation.name == operation]
    given = json.dumps({each: sound(each) for each in units})
    command = [sys.executable, "-m", "tests.attack.faulty_generator"]
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [each["by"] for each in json.loads(done.stdout)] == ["proved equal to the sound Verilog"] * len(units)


@pytest.mark.attack(f"faults of the generator, drawn by seed {SEED}")
@pytest.mark.campaign
@pytest.mark.parametrize(("module", "number"), faults(), ids=lambda each: str(each))
def test_a_fault_of_the_generator_is_not_proved(
    module: str, number: int, record_property: Callable[[str, object], None]
) -> None:
    found = caught(module, number)
    record_property("caught", found["by"])
    assert found["by"] != "passed", found
    assert found["by"] in (NO_EFFECT, "no verdict") or sound_is_proved(found["unit"]), found


def test_faults_are_of_every_module() -> None:
    drawn = faults()
    assert len(drawn) == len({*drawn}) == FAULTS
    assert {module for module, _ in drawn} <= {*modules()}
    steps = [module for module in modules() if module.startswith("rtl.steps.")]
    shares = Counter(module for module, _ in drawn)
    assert all(shares[module] >= 1 for module in steps)


@pytest.mark.long
def test_sound_generator_is_proved_where_faults_are_tried() -> None:
    assert sound_is_proved("E-FDPA")


@pytest.mark.slow
def test_a_fault_of_the_multiplier_is_caught_in_one_unit() -> None:
    module, text = "rtl.steps.multiply", "`x.sign ^ y.sign` → `x.sign | y.sign`"
    numbers = [number for number, each in enumerate(mutations(module)) if each.text == text]
    found = caught(module, numbers[0], [0])
    assert found["fault"].endswith(text)
    assert found["by"] == "refuted"
