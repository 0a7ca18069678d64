"""Archives whose bytes follow from their contents alone."""

import gzip
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO


def write_archive(file: Path, epoch: int, members: Iterable[tuple[tarfile.TarInfo, IO[bytes] | None]]) -> None:
    """Write a .tar.gz in order of names, with one time for all members and without owners.

    Args:
        epoch: the time of all members (seconds since 1970). members: each member with its content; None for a folder.
    """
    with (
        file.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=epoch, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member, content in sorted(members, key=lambda pair: pair[0].name):
            member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = epoch, 0, 0, "", "", {}
            archive.addfile(member, content)
