"""What a result was made with: the project's commit, the digests of what ran, the tools and the machine."""

import hashlib
import platform
import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from golden.native.library import MODULE, isa

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ("golden/**/*.py", "golden/**/*.toml", "golden/native/**/*.hpp", "golden/native/**/*.cpp", "golden/native/**/*.h",
           "golden/native/**/*.inc", "golden/native/CMakeLists.txt")  # fmt: skip
"""All that decides a result of an engine: the reference, the catalogue, the stimulus, the native library."""

COMPILER = re.compile(rb"GCC: \([^)]*\) [0-9.]+|[a-z ]*clang version [0-9.]+")


def sources(patterns: Sequence[str] = GOLDEN) -> list[Path]:
    """The files that patterns name, in one order on every machine."""
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})


def digest_of_sources(patterns: Sequence[str] = GOLDEN) -> str:
    """SHA-256 over the names and contents of `sources`."""
    digest = hashlib.sha256()
    for path in sources(patterns):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def library_path() -> Path | None:
    """The native library's file; None where it is not installed."""
    spec = find_spec(MODULE)
    return None if spec is None or spec.origin is None else Path(spec.origin)


def library_digest() -> str | None:
    """SHA-256 of the native library's file; None where it is not installed."""
    path = library_path()
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def library_is_older_than(path: Path) -> list[Path]:
    """Sources of the native library that were changed after it was built."""
    built = path.stat().st_mtime
    native = ROOT / "golden" / "native"
    return [source for source in sources() if source.is_relative_to(native) and source.suffix != ".py"
            and source.stat().st_mtime > built]  # fmt: skip


def compiler(library: bytes) -> str:
    """The compiler that an ELF file names in its section .comment."""
    found = COMPILER.search(library)
    return found[0].decode() if found else "unknown"


def processor() -> str:
    """The processor's name where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def commit(folders: Sequence[str]) -> str:
    """The project's commit, with `+` where files in these folders that git follows were changed since; `unknown` outside a
    repository."""
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", *folders],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + ("+" if changed.stdout else "")


def provenance(patterns: Sequence[str] = GOLDEN) -> dict[str, str]:
    """Name to value of everything that results and speed depend on.

    Args:
        patterns: the sources, from the root: all that decides a result beside the native library.

    Raises:
        FileNotFoundError: the native library is not installed.
    """
    path = library_path()
    if path is None:
        raise FileNotFoundError("the native library is not installed")
    library = path.read_bytes()
    return {
        "commit": commit(sorted({pattern.split("/")[0] for pattern in patterns})),
        "sources": digest_of_sources(patterns),
        "library": hashlib.sha256(library).hexdigest(),
        "compiler": compiler(library),
        "isa": str(isa()),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "ml_dtypes": version("ml_dtypes"),
        "processor": processor(),
        "platform": platform.platform(),
    }
