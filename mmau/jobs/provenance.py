"""The provenance of a result: the project's commit, digests of the code that ran, the tools and the machine; and tables that
hold a digest of themselves, so that an edited one is noticed."""

import ast
import hashlib
import json
import platform
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from golden.cache import cached_text
from golden.commit import commit
from golden.native.library import MODULE, isa
from golden.text import canonical

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ("golden/**/*.py", "golden/**/*.toml", "golden/native/**/*.hpp", "golden/native/**/*.cpp", "golden/native/**/*.h",
           "golden/native/**/*.inc", "golden/native/CMakeLists.txt")  # fmt: skip
"""The files that determine a result of an engine: the reference, the catalogue, the stimulus, the native library."""

COMPILER = re.compile(rb"GCC: \([^)]*\) [0-9.]+|[a-z ]*clang version [0-9.]+")


def sources(patterns: Sequence[str] = GOLDEN) -> list[Path]:
    """The files that patterns name, in one order on every machine."""
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})


def digest_of_sources(patterns: Sequence[str] = GOLDEN) -> str:
    """SHA-256 over the names and contents of `sources`; of Python over its code alone, without comments and docstrings."""
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sources(patterns)}
    as_written = _digest_of_files({**files, "this": Path(__file__).read_bytes()})
    determines = {"files": as_written, "python": platform.python_version()}
    return cached_text("sources", determines, lambda: _digest_of_files({
        name: code_of(content) if name.endswith(".py") else content for name, content in files.items()
    }))  # fmt: skip


def _digest_of_files(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def library_path() -> Path | None:
    """The native library's file; None where it is not installed."""
    spec = find_spec(MODULE)
    return None if spec is None or spec.origin is None else Path(spec.origin)


def library_digest() -> str | None:
    """SHA-256 of the native library's file; None where it is not installed."""
    path = library_path()
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def compiler(library: bytes) -> str:
    """The compiler that an ELF file names in its section .comment."""
    found = COMPILER.search(library)
    return found[0].decode() if found else "unknown"


def processor() -> str:
    """The processor's name from Linux, else the machine type."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def provenance(patterns: Sequence[str] = GOLDEN) -> dict[str, str]:
    """Name to value of everything that results and speed depend on.

    Args:
        patterns: the sources, from the root: the files that determine a result besides the native library.

    Raises:
        FileNotFoundError: the native library is not installed.
    """
    path = library_path()
    if path is None:
        raise FileNotFoundError("the native library is not installed")
    library = path.read_bytes()
    return {
        "commit": commit(tuple(sorted({pattern.split("/")[0] for pattern in patterns}))),
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


@cache
def code_of(source: bytes) -> bytes:
    """The syntax tree as text, without docstrings: the same text for sources that differ in layout and comments alone, under
    every version of Python. A source that is not Python is returned unchanged.

    >>> code_of(b"x = 1  # one") == code_of(b"x  =  (1)") != code_of(b"x = 2")
    True
    """
    try:
        return _text(ast.parse(source)).encode()
    except (SyntaxError, ValueError):
        return source


def _text(node: object) -> str:
    """A node with its fields by name. Empty fields are omitted, because a later Python may have more of them."""
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields)
        named = (f"{name}={_text(value)}" for name, value in fields if value is not None and value != [])
        return f"({type(node).__name__} {' '.join(named)})"
    if isinstance(node, list):
        return f"[{' '.join(_text(each) for each in node if not _is_docstring(each))}]"
    return repr(node)


def _is_docstring(node: object) -> bool:
    """Whether a node is a statement that consists of a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


SEAL = "digest"
"""The key of a sealed table whose value is the digest of all other keys and values."""


def sealed(table: Mapping[str, Any]) -> str:
    """A table as JSON with a digest of itself, each element of a list on a separate line."""
    lines = [f" {json.dumps(key)}: {_lines(value)}" for key, value in {SEAL: seal_of(table), **table}.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"


def unsealed(text: str | bytes) -> dict[str, Any]:
    """The table that `sealed` wrote.

    Raises:
        ValueError: the text is something else, or was changed since.
    """
    try:
        table = json.loads(text)
        seal = table.pop(SEAL)
        is_whole = seal == seal_of(table)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no outcome with a digest of itself: {error!r}") from None
    if not is_whole:
        raise ValueError("its content does not match its digest: it was changed after it was written")
    return dict(table)


def seal_of(table: Mapping[str, Any]) -> str:
    """The digest of a table without its seal."""
    return hashlib.sha256(canonical(table)).hexdigest()
