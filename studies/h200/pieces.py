"""Results in pieces: tar files of a bounded size, each readable by itself, and together no more than a call may hand over.

A member is a file of the results, or, of one that is larger than a piece, `name#part-of-parts`. `manifest.json` in each
piece says the SHA-256 of every whole file that it holds or holds a part of.
"""

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from golden.files import write_atomically

CALL_BYTES = 64 << 20
"""Most that one call hands over."""

MANIFEST = "manifest.json"

_BLOCK = 512
_OVERHEAD = 64 << 10
"""Of a piece's size, for the headers, the manifest and the end of the tar file."""


class Member(NamedTuple):
    """A part of a file: its name, the part's number from 1 on, of how many, and the whole file's SHA-256."""

    name: str
    part: int
    parts: int
    sha256: str
    content: bytes


def pack(root: Path, names: Sequence[str], out: Path, piece_bytes: int, room: int) -> list[str]:
    """Write files into pieces `piece-001.tar` … of `out`, numbered on from those that are there.

    Args:
        root, names: the files, by their path below root. piece_bytes: most of a piece. room: most of all pieces together.

    Returns:
        The names that were handed over whole; the others did not fit.
    """
    handed: list[str] = []
    members: list[Member] = []
    number, used = 1 + max((int(path.stem.partition("-")[2]) for path in _pieces(out)), default=0), 0
    for name in names:
        parts = list(_parts(name, (root / name).read_bytes(), piece_bytes - _OVERHEAD))
        if used + _size(members) + _size(parts) + _OVERHEAD * (1 + len(parts)) > room:
            continue
        for member in parts:
            if members and _size([*members, member]) > piece_bytes - _OVERHEAD:
                used += _write(out, number, members)
                number, members = number + 1, []
            members.append(member)
        handed.append(name)
    if members:
        _write(out, number, members)
    return handed


def _pieces(out: Path) -> list[Path]:
    return sorted(path for path in out.glob("piece-*.tar") if re.fullmatch(r"piece-\d{3,}", path.stem))


def _parts(name: str, content: bytes, size: int) -> Iterator[Member]:
    sha256, parts = hashlib.sha256(content).hexdigest(), max(1, -(-len(content) // size))
    for part in range(parts):
        yield Member(name, part + 1, parts, sha256, content[part * size : (part + 1) * size])


def _size(members: Sequence[Member]) -> int:
    return sum(_BLOCK + -(-len(member.content) // _BLOCK) * _BLOCK for member in members)


def _write(out: Path, number: int, members: Sequence[Member]) -> int:
    stream = io.BytesIO()
    manifest = json.dumps({member.name: member.sha256 for member in members}, indent=1).encode()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        _add(archive, MANIFEST, manifest)
        for member in members:
            _add(archive, member.name + (f"#{member.part}-of-{member.parts}" if member.parts > 1 else ""), member.content)
    write_atomically(out / f"piece-{number:03}.tar", stream.getvalue())
    return len(stream.getvalue())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


Merge = Callable[[str, bytes, bytes], bytes]
"""(name, an earlier version of a file, a later one) → what both say."""


def the_last(name: str, earlier: bytes, later: bytes) -> bytes:
    """A file that was handed over more than once is the last one."""
    return later


def unpack(outs: Sequence[Path], root: Path, merge: Merge = the_last) -> list[str]:
    """Put the pieces of many calls together below a folder; nothing is written unless all are whole.

    Args:
        merge: makes one file of the versions of a file that calls handed over.

    Returns:
        The files written.

    Raises:
        ValueError: no piece, or one that is damaged or not all there. OSError: it cannot be read or written.
    """
    found: dict[str, bytes] = {}
    for out in outs:
        for name, content in _versions(out):
            found[name] = merge(name, found[name], content) if name in found else content
    for name, content in found.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    return list(found)


def _versions(out: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder's pieces, every version of each, in the order in which they were last handed over."""
    paths = _pieces(out)
    if not paths:
        raise ValueError(f"{out} holds no pieces (piece-001.tar …)")
    parts: dict[tuple[str, str], dict[int, Member]] = {}
    for path in paths:
        for member in _members(path):
            version = member.name, member.sha256
            parts[version] = parts.pop(version, {}) | {member.part: member}
    for (name, sha256), by_number in parts.items():
        members = [by_number[number] for number in sorted(by_number)]
        content = b"".join(member.content for member in members)
        if len(members) != members[0].parts or hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"{out}: {name} is damaged or not all there; copy the pieces again")
        yield name, content


def _members(path: Path) -> Iterator[Member]:
    try:
        with tarfile.open(path, mode="r:") as archive:
            contents = {info.name: archive.extractfile(info) for info in archive.getmembers() if info.isfile()}
            data = {name: stream.read() for name, stream in contents.items() if stream is not None}
        manifest = {str(name): str(digest) for name, digest in json.loads(data.pop(MANIFEST)).items()}
    except (tarfile.TarError, KeyError, ValueError, AttributeError, RecursionError, EOFError) as error:
        raise ValueError(f"{path} is no piece of results: {error}; copy it again") from error
    for member, content in data.items():
        match = re.fullmatch(r"(.*?)(?:#(\d+)-of-(\d+))?", member)
        assert match is not None
        name = match[1]
        inside = not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
        if name not in manifest or not inside:
            raise ValueError(f"{path} is no piece of results: {name!r} is not in its manifest or leads out of the folder")
        yield Member(name, int(match[2] or 1), int(match[3] or 1), manifest[name], content)
