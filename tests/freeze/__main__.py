"""The freeze: what the project did at one commit, which every later change of its insides is compared with.

    python -m tests.freeze write PART... [--junit FILE] [--tree DIR]
    python -m tests.freeze compare [PART...] [--junit FILE] [--tree DIR]

Parts: `attacks` (ids and outcomes of every test with the marker attack), `surface` (options of every command, make targets),
`printed` (`--json`, exit status, messages and files of every command), `designs` (digests of the circuit and the Verilog of
every recorded design), `mutants` (200 changes of sources, and whether tests notice). Each part is a file of records by name;
a change that is meant to change one writes that part again, in the commit that says why.
Exit status of compare: 1 if a frozen record differs or is gone.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from tests.freeze import attacks, commands, designs, mutants

Records = dict[str, Any]
"""What is frozen of one part, by name."""

HERE = Path(__file__).parent

PARTS: Mapping[
    str, tuple[Callable[[argparse.Namespace, Records], Records], Callable[[Records, Records], list[str]] | None]
] = {
    "attacks": (lambda options, before: attacks.attacks(options.junit, before), attacks.worse),
    "surface": (lambda options, before: commands.surface(), None),
    "printed": (lambda options, before: commands.printed(options.only), None),
    "designs": (lambda options, before: designs.digests(options.slice), designs.differing),
    "mutants": (lambda options, before: mutants.judged(before, options), mutants.worse),
}
"""For each part the function that makes it, from options and frozen records, and one that compares it, else for equality."""


def differences(old: Records, new: Records) -> list[str]:
    """A line for each frozen record that is gone or differs. What is new is no difference."""
    lost = [f"{name}: is gone" for name in old if name not in new]
    return lost + [f"{name}: is {_short(new[name], was)}" for name, was in old.items() if name in new and new[name] != was]


def _short(new: Any, old: Any, where: str = "") -> str:
    """The first place where two values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        key = next(key for key in (*old, *new) if key not in new or key not in old or old[key] != new[key])
        return _short(new.get(key), old.get(key), f"{where}.{key}")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        place = next(place for place, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1])
        return _short(new[place], old[place], f"{where}[{place}]")
    return f"{json.dumps(new)[:300]}, was {json.dumps(old)[:300]}" + (f" ({where[1:]})" if where else "")


def main() -> int:
    """Write or compare the parts."""
    parser = argparse.ArgumentParser(prog="freeze", description="Freeze what the project does, or compare it.")
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("parts", nargs="*", choices=(*PARTS, []), help="default: all")
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="attacks: report of a run of them, with -o junit_family=xunit1"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="printed, mutants: those whose name contains the text")
    parser.add_argument("--slice", metavar="K/N", help="designs: part K of N, from 0")
    parser.add_argument(
        "--tree", type=Path, metavar="DIR", help="mutants: a clone with its own .venv, in which they are tried"
    )
    parser.add_argument(
        "--seconds", type=float, default=900, metavar="S", help="mutants: for the tests of one (default: 900)"
    )
    parser.add_argument("--within", type=float, metavar="S", help="mutants: start none after so many seconds")
    options = parser.parse_args()
    status = 0
    for part in options.parts or PARTS:
        make, compare = PARTS[part]
        file = HERE / f"{part}.json"
        before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        made = make(options, before)
        if options.action == "write":
            whole = before | made if options.only or options.slice else made
            write_atomically(file, text_of(whole).encode())
            print(f"{part}: {len(made)} written")
            continue
        kept = {name: record for name, record in before.items() if name in made} if options.only or options.slice else before
        lines = (compare or differences)(kept, made)
        print("\n".join([*lines, f"{part}: {len(kept)} compared, {len(lines)} differ"]))
        status |= bool(lines)
    return status


def text_of(records: Records) -> str:
    """A file of records, one on a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(record)}" for name, record in records.items()) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
