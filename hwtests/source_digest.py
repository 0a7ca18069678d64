"""The digest of the sources that made a report; it identifies them even if no commit is known."""

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("golden", "hwtests")
SUFFIXES = (".py", ".toml", ".c", ".h", ".hpp", ".cpp", ".inc")


@cache
def sources() -> str:
    """SHA-256 over the paths and contents of all sources of the packages that a device runs."""
    total = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in SUFFIXES:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(ROOT).as_posix()} {digest}\n".encode())
    return total.hexdigest()
