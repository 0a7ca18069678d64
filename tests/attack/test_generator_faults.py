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
from tests.attack.faults import FAULTS, UNITS, faults, modules, unit_of
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


@pytest.mark.attack("faults of the generator")
@pytest.mark.campaign
@pytest.mark.parametrize(("module", "number"), faults(), ids=lambda each: str(each))
def test_a_fault_of_the_generator_is_not_proved(
    module: str, number: int, record_property: Callable[[str, object], None]
) -> None:
    found = caught(module, number)
    record_property("caught", found["by"])
    assert found["by"] != "passed", found


def test_faults_are_of_every_module() -> None:
    drawn = faults()
    assert len(drawn) == len({*drawn}) == FAULTS
    assert {module for module, _ in drawn} <= {*modules()}
    steps = [module for module in modules() if module.startswith("rtl.steps.")]
    shares = Counter(module for module, _ in drawn)
    assert all(shares[module] >= 1 for module in steps)


@pytest.mark.slow
def test_a_fault_of_the_multiplier_is_caught_in_one_unit() -> None:
    assert caught("rtl.steps.multiply", 0, [0])["by"] not in (NO_EFFECT, "passed")
