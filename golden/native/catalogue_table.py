"""Writer of the C interface's catalogue, src/catalogue.inc: `python -m golden.native.catalogue_table`."""

import re
from collections.abc import Iterator
from pathlib import Path

from golden.catalogue import instructions
from golden.files import write_atomically
from golden.native.parameters import KEYS, Parameters, is_one_call, parameters
from golden.units.instruction import Instruction

PATH = Path(__file__).parent / "src" / "catalogue.inc"


def entries() -> Iterator[str]:
    """One line of C++ for all instructions of an architecture that differ in N alone (NVIDIA's names; AMD's stand alone).

    Chains that golden runs as several calls of the library are omitted: pairs, and sums outside of the steps.
    """
    alike: dict[tuple[str, str, bytes], list[Instruction]] = {}
    for entry in instructions():
        if not is_one_call(entry.chain):
            continue
        name = re.sub(r"(?<=\dn)\d+(?=k)", "*", entry.name, count=1)
        packed = bytes(parameters(entry.chain, entry.k))
        alike.setdefault((entry.arch, name, packed), []).append(entry)
    for (arch, name, packed), members in alike.items():
        for n in _even_runs([member.n for member in members]):
            yield _entry(arch, name, n, members[0].m, Parameters.from_buffer_copy(packed))


def _even_runs(n: list[int]) -> list[list[int]]:
    """Rising numbers, cut into evenly spaced runs."""
    runs = [n[:1]]
    for number in n[1:]:
        run = runs[-1]
        if len(run) == 1 or number - run[-1] == run[1] - run[0]:
            run.append(number)
        else:
            runs.append([number])
    return runs


def _entry(arch: str, name: str, n: list[int], m: int, keys: Parameters) -> str:
    step = n[1] - n[0] if len(n) > 1 else 1
    values = ", ".join(str(getattr(keys, key)) for key in KEYS)
    return f'{{"{arch}", "{name}", {m}, {n[0]}, {n[-1]}, {step}, {{{values}}}}},'


def text() -> str:
    """The content of src/catalogue.inc."""
    head = (
        "// Written by golden/native/catalogue_table.py from golden/catalogue/*.toml: arch, name, m, first, last and\n"
        "// step of n, then struct mmau_parameters in its order.\n"
    )
    return head + "\n".join(entries()) + "\n"


if __name__ == "__main__":
    write_atomically(PATH, text().encode())
