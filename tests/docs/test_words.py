"""Messages, docstrings and documents take the terms of the vocabulary, not the private words of earlier versions."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, PACKAGES, ROOT

PRIVATE = re.compile(r"\b(?:rivals?|told|left over|subjects?)\b|(?<!black )(?<!-)\bbox(?:es)?\b(?!-)", re.IGNORECASE)
"""Words for which the vocabulary has a term: candidate model, target, device under test, remaining, stated."""

KEYS: dict[str, set[str]] = {
    "mmau/formal/records.py": {"subjects"},
    "mmau/probe/journal.py": {"box"},
    "mmau/probe/papers/comparison_report.py": {"boxes"},
    "studies/proofs": {"subjects"},
}
"""Keys of file formats, which stay as they are, by the file or folder that has them."""


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a program, docstrings and parts of f-strings among them, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def private_words(text: str, keys: Collection[str] = ()) -> list[str]:
    """Every private word in a text that is no key of a file format."""
    return [] if text in keys else [found[0] for found in PRIVATE.finditer(text)]


def keys_of(path: Path) -> set[str]:
    """The keys of file formats that a program may name."""
    name = path.relative_to(ROOT).as_posix()
    return set().union(*(keys for place, keys in KEYS.items() if name.startswith(place)))


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_no_string_of_a_package_has_a_private_word(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {word}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in texts(path.read_text(encoding="utf-8"))
        for word in private_words(text, keys_of(path))
    ]
    assert found == []


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if document.name != "promises.md"], ids=str)
def test_no_document_has_a_private_word(document: Path) -> None:
    """But docs/reference/promises.md, which names a key. CONTRIBUTING.md has a pattern of names of tests."""
    text = document.read_text(encoding="utf-8").replace("test_<subject>_", "")
    assert [f"{number}: {line}" for number, line in enumerate(text.splitlines(), 1) if private_words(line)] == []


@pytest.mark.attack("a private word in a message, a docstring and a part of an f-string")
def test_private_words_are_found() -> None:
    source = 'def f(x):\n    """Of rivals."""\n    return f"{x} boxes", "black box", "box-sizing", "subjects"\n'
    found = [(line, word) for line, text in texts(source) for word in private_words(text, {"subjects"})]
    assert sorted(found) == [(2, "rivals"), (3, "boxes")]
    assert private_words("What is Left over was said and told.") == ["Left over", "told"]
