"""Write the catalogue as the C interface holds it, src/catalogue.inc: `python -m golden.native.catalogue`."""

import re
from collections.abc import Iterator
from pathlib import Path

from golden.catalogue import instructions
from golden.files import write_atomically
from golden.instruction import Instruction
from golden.native.parameters import KEYS, Parameters, parameters
from golden.paired_chain import PairedChain

PATH = Path(__file__).parent / "src" / "catalogue.inc"


def entries() -> Iterator[str]:
    """One line of C++ for all instructions of an architecture that differ in N alone (NVIDIA's names; AMD's stand alone).

    Paired chains are left out: golden runs them as several calls of the library.
    """
    alike: dict[tuple[str, str, bytes], list[Instruction]] = {}
    for entry in instructions():
        if isinstance(entry.chain, PairedChain):
            continue
        name = re.sub(r"(?<=\dn)\d+(?=k)", "*", entry.name, count=1)
        packed = bytes(parameters(entry.chain, entry.k))
        alike.setdefault((entry.arch, name, packed), []).append(entry)
    for (arch, name, packed), members in alike.items():
        yield _entry(arch, name, [member.n for member in members], members[0].m, Parameters.from_buffer_copy(packed))


def _entry(arch: str, name: str, n: list[int], m: int, keys: Parameters) -> str:
    step = n[1] - n[0] if len(n) > 1 else 1
    if n != list(range(n[0], n[-1] + 1, step)):
        raise ValueError(f"N of {arch} {name} must go in equal steps, got {n}")
    values = ", ".join(str(getattr(keys, key)) for key in KEYS)
    return f'{{"{arch}", "{name}", {m}, {n[0]}, {n[-1]}, {step}, {{{values}}}}},'


def text() -> str:
    """The whole file."""
    head = (
        "// Written by golden/native/catalogue.py from golden/catalogue/*.toml: arch, name, m, first, last and step of n,\n"
        "// then struct mmau_parameters in its order.\n"
    )
    return head + "\n".join(entries()) + "\n"


if __name__ == "__main__":
    write_atomically(PATH, text().encode())
