"""Provenance of results: digests of sources, of Python by its code alone."""

import re
from pathlib import Path

import pytest

from mmau.jobs import provenance
from mmau.jobs.provenance import GOLDEN, code_of, sources
from mmau.prove.records import SOURCES


def test_digest_follows_every_source_of_the_engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {path.relative_to(provenance.ROOT).as_posix() for path in provenance.sources()}
    assert {
        "golden/arithmetic/steps.py", "golden/catalogue/sm_90.toml", "golden/stimulus/classes.py",
        "golden/native/CMakeLists.txt", "golden/native/include/mmau/dot.hpp",
        "golden/native/include/mmau.h", "golden/native/src/mmau.cpp",
        "golden/native/src/catalogue.inc",
    } <= names  # fmt: skip
    (tmp_path / "golden").mkdir()
    source = tmp_path / "golden" / "steps.py"
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    digests = []
    for text in ("F = 24\n", "F = 25\n", "F = 25\n"):
        source.write_text(text, encoding="utf-8")
        digests.append(provenance.digest_of_sources())
    assert digests[0] != digests[1] == digests[2]


TEXT = b"""\"\"\"A module.\"\"\"

WIDTH = 3
\"\"\"Bits.\"\"\"

def double(x: int) -> int:
    \"\"\"Twice.\"\"\"
    return x * 2  # no carry
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"no carry", b"none"),
        (b"Twice.", b"2 * x."),
        (b"Bits.", b"Of x."),
        (b"A module.", b""),
        (b"\n\n", b"\n\n\n"),
        (b"x * 2", b"(x * 2)"),
    ],
)
def test_comments_docstrings_and_layout_are_no_code(old: bytes, new: bytes) -> None:
    assert TEXT.replace(old, new) != TEXT
    assert code_of(TEXT.replace(old, new)) == code_of(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"= 3", b"= 4"),
        (b"= 3", b"= 3.0"),
        (b"= 3", b"= True"),
        (b"= 3", b"= '3'"),
        (b"= 3", b"= None"),
        (b"= 3", b"= ''"),
        (b"= 3", b"= []"),
        (b"x * 2", b"2 * x"),
        (b"x * 2", b"x ** 2"),
        (b"return x", b"x"),
        (b"double", b"twice"),
        (b"x: int", b"x"),
        (b"    return", b"    pass\n    return"),
        (b"def", b"async def"),
        (b"return x * 2", b"return f'{x}'"),
    ],
)
def test_all_else_is_code(old: bytes, new: bytes) -> None:
    assert TEXT.replace(old, new) != TEXT
    assert code_of(TEXT.replace(old, new)) != code_of(TEXT)


def test_a_text_that_is_a_value_is_code() -> None:
    assert code_of(b"f('a')\n'doc'") == code_of(b"f('a')") != code_of(b"f('b')")


def test_a_field_that_is_empty_is_none_of_a_later_python() -> None:
    """Python 3.12 gives functions and classes type parameters, an empty list where there are none."""
    assert code_of(b"def f(): pass") == b"(Module body=[(FunctionDef name='f' args=(arguments ) body=[(Pass )])])"


def test_a_source_that_is_no_python_stands_for_itself() -> None:
    assert code_of(b"def (") == b"def ("
    assert code_of(b"\x00") == b"\x00"


def test_no_source_reads_its_own_text() -> None:
    """A docstring that decides a result would be code."""
    reads = re.compile(rb"__doc__|getdoc|getsource|inspect\.getcomments|linecache|co_firstlineno|f_lineno")
    found = [path.name for path in sources((*GOLDEN, *SOURCES, "cosim/**/*.py")) if reads.search(path.read_bytes())]
    assert found == []
