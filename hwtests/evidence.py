"""What a report says of the sources that made it: the project's commit, and a digest of the sources themselves, which holds
where there is no repository."""

import hashlib
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("golden", "hwtests")
SUFFIXES = (".py", ".toml", ".c", ".h", ".hpp", ".cpp", ".inc")


@cache
def commit() -> str:
    """The commit that is checked out, with `+changes` where files differ from it; `unknown` without a repository."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


@cache
def sources() -> str:
    """SHA-256 of all sources of the packages that a device runs, by path."""
    total = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in SUFFIXES:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(ROOT).as_posix()} {digest}\n".encode())
    return total.hexdigest()
