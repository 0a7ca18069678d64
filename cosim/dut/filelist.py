"""Filelists (`-f`): source files and compiler options in the syntax of simulators."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_DEPTH = 16
"""Largest depth of nested filelists, because a filelist that names itself would never end."""

MAX_BYTES = 1 << 24
"""Largest filelist that is read (bytes): it names some hundred thousand paths."""


@dataclass
class Filelist:
    """The contents of a filelist.

    Attributes:
        sources: source files in order.
        include: folders of included files.
        defines: macros and their values, empty where a macro has none.
        parameters: parameters of the top module and their values.
        lists: the filelists that were read, nested ones too.
    """

    sources: list[Path] = field(default_factory=list)
    include: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    lists: list[Path] = field(default_factory=list)


def read_filelist(path: Path) -> Filelist:
    """Read a filelist: paths, `-I`, `-D`, `-G`, `+incdir+`, `+define+`, `-f` and `-F`; comments begin with `//` or `#`.

    A relative path starts at the filelist's folder, or at the current folder if it does not exist there.

    Raises:
        ValueError: another option, or filelists nested too deep. OSError: a filelist cannot be read.
    """
    found = Filelist()
    _read(path, found, 0)
    return found


def _read(path: Path, found: Filelist, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"{path}: filelists must not be nested deeper than {MAX_DEPTH}; does one name itself?")
    words = _words(_text(path))
    found.lists.append(path)
    for word in words:
        option, value = word[:2], word[2:]
        if option in ("-f", "-F"):
            _read(_located(path, value or _next(words, path, word)), found, depth + 1)
        elif option == "-I":
            found.include.append(_located(path, value or _next(words, path, word)))
        elif option == "-D":
            _define(found.defines, value or _next(words, path, word))
        elif option == "-G":
            _define(found.parameters, value or _next(words, path, word))
        elif word.startswith("+incdir+"):
            found.include += [_located(path, folder) for folder in word.split("+")[2:] if folder]
        elif word.startswith("+define+"):
            for macro in word.split("+")[2:]:
                _define(found.defines, macro)
        elif word[0] in "+-":
            raise ValueError(
                f"{path}: {word!r} is not understood; a filelist holds paths, -I, -D, -G, -f, +incdir+ and +define+, "
                "other options go into verilator_args"
            )
        else:
            found.sources.append(_located(path, word))


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path}: must be a filelist of at most {MAX_BYTES:,} bytes, but is larger")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: must be a filelist, which is text in UTF-8: {error}") from error


def _words(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for word in line.split("//")[0].split():
            if word.startswith("#"):
                break
            yield word


def _next(words: Iterator[str], path: Path, option: str) -> str:
    value = next(words, None)
    if value is None:
        raise ValueError(f"{path}: {option} needs a value behind it, got the end of the file")
    return value


def _define(table: dict[str, str], text: str) -> None:
    name, _, value = text.partition("=")
    table[name] = value


def _located(filelist: Path, name: str) -> Path:
    beside = filelist.parent / name
    return beside if beside.exists() else Path(name)
