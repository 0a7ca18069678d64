"""A proof by a generator with one fault, in a process of its own: python -m tests.attack.faulty_generator MODULE NUMBER.

Writes one line of JSON: the unit whose Verilog the fault changes, and what caught it; without a module, what becomes of each
unit of the sound generator. The fault is in the process that asks the questions too, so that one by which Verilog and
questions go wrong together would show.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from studies.golden_mutants.mutations import Mutation
from studies.symbolic.model_copy import source_of, tree_of
from tests.attack.faults import fault, unit_of, units_for

SECONDS = 60.0
"""For a proof, and for the comparison with the sound Verilog."""

NO_EFFECT = "no effect"
"""The fault changes the Verilog of no unit."""


class Faulty(MetaPathFinder, Loader):
    """Loads one module from its mutated source."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        is_faulty = name == self._mutation.module
        return spec_from_loader(name, self, origin=str(source_of(name))) if is_faulty else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        exec(compile(self._mutation.change(name, tree_of(name)), str(source_of(name)), "exec"), module.__dict__)


def caught(mutation: Mutation, units: Sequence[int], sound: Mapping[int, str]) -> dict[str, str]:
    """The check that caught the fault, by the first unit whose Verilog it changes; `passed` if none did.

    Args:
        units: the numbers of the units that are tried, of those in `tests.attack.faults.UNITS`.
        sound: the Verilog of each of them without the fault.
    """
    assert not any(name.startswith("rtl") for name in sys.modules), "the fault would come too late"
    sys.meta_path.insert(0, Faulty(mutation))
    for number in units:
        found = outcome(number, sound[number])
        if found["by"] != NO_EFFECT:
            return found
    return {"unit": "", "by": NO_EFFECT}


def outcome(number: int, sound: str, is_changed: bool = True) -> dict[str, str]:
    """The outcome of a unit of this process's generator: its proof fails, or else its Verilog is right or not.

    Args:
        sound: its Verilog without a fault. is_changed: whether that same Verilog is without effect, and not proved.
    """
    from mmau.prove.design_proof import prove
    from mmau.prove.netlist.equivalence import EQUAL, Side, compare
    from mmau.prove.netlist.verilog_text import read_netlist
    from rtl.designs.unit_design import UnitDesign
    from rtl.verilog.emit import to_verilog

    unit = unit_of(number)
    of_it = {"unit": unit.operation.name}
    try:
        text = to_verilog(unit, "unit")
        if is_changed and text == sound:
            return of_it | {"by": NO_EFFECT}
        found = prove(UnitDesign(unit), SECONDS)
    except Exception as error:  # any: the generator, or the prover, refuses
        return of_it | {"by": f"refused: {type(error).__name__}"}
    if found.verdict != "proved":
        return of_it | {"by": found.verdict}
    right, wrong = (Side(read_netlist(each), "unit") for each in (sound, text))
    is_equal = compare(right, wrong, SECONDS).verdict == EQUAL
    return of_it | {"by": "proved equal to the sound Verilog" if is_equal else "passed"}


def main() -> int:
    """The fault named on the command line; on stdin the sound Verilog of the units that are tried, by number."""
    sound = {int(each): text for each, text in json.load(sys.stdin).items()}
    if len(sys.argv) == 1:
        print(json.dumps([outcome(number, text, is_changed=False) for number, text in sound.items()]))
        return 0
    module, number = sys.argv[1], int(sys.argv[2])
    mutation = fault(module, number)
    found = caught(mutation, [each for each in units_for(module, number) if each in sound], sound)
    print(json.dumps({"fault": mutation.name} | found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
