"""The documents' names exist: links, files and folders, modules and their members."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import golden
from tests.docs.documents import DOCUMENTS, PACKAGES, ROOT, code_spans, files, is_module, links

MADE_BY_THE_READER = (
    "unit.toml", "spec.toml", "other.toml", "gemm.toml", "SPACE.toml",
    "dut.toml", "ports.toml", "dot2.sv", "vectors.txt", "unit.v", "yours.v", "v.npz", "d.npz", "conform.json",
    "sparse_and_integer.json", "index.json", "store.json", "space.toml", "results.csv",
    "answers.md", "arrays.json", "units/NAME.toml", "verilog/NAME.v", "netlists/NAME.v", "netlist.v",
    "disclosure.toml", "riscv-fp16.toml", "riscv-fp16-rne.txt", "riscv-fp8-rto-mx16-rne.txt",
    "fma.toml", "cvfpu.toml", "cvfpu/src/fpnew_fma.sv",
    "plots/", "store/", "estimates.csv", "riscv_arch_test.h", "results/results.csv", "results/report.html",
)  # fmt: skip
"""Files that commands in the documents read and write."""

SUFFIXES = (
    "py", "md", "toml", "txt", "json", "hpp", "cpp", "h", "inc", "sv", "v", "npz", "cff", "yml", "yaml", "sh", "csv", "svg",
)  # fmt: skip

INSTRUCTIONS = {instruction.name for instruction in golden.instructions()}

EVERY_DOCUMENT = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


def headings(document: Path) -> set[str]:
    """The anchors that a document's headings have on a web page."""
    titles = re.findall(r"^#+ +(.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def is_path(span: str) -> bool:
    """Whether a code span names a file or a folder of the project: by its suffix, or by a folder that it begins with."""
    if not re.fullmatch(r"[\w.<>*{},/-]+", span):
        return False
    if span in INSTRUCTIONS or span.startswith("."):  # fmla.h is no header, nor is the end .h.h of a name
        return False
    folder, slash, _ = span.partition("/")
    return (bool(slash) and (ROOT / folder).is_dir()) or span.rpartition(".")[2] in SUFFIXES


def exists(span: str) -> bool:
    """Whether a path is there, from the root or as the end of one.

    `{a,b}` stands for each of its choices, `*` and `<name>` for anything within a folder.
    """
    braces = re.search(r"\{([^}]*)\}", span)
    if braces:
        return all(exists(span.replace(braces[0], choice, 1)) for choice in braces[1].split(","))
    parts = re.split(r"\*|<\w+>", span.removesuffix("/"))
    path = re.compile("(?:.*/)?" + "[^/]*".join(map(re.escape, parts)))
    return any(path.fullmatch(there) for there in files())


def resolve(name: str) -> Any:
    """The object that a dotted name of one of the packages stands for.

    Raises:
        AssertionError: nothing has that name.
    """
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for n, part in enumerate(parts[1:], start=2):
        if hasattr(found, part):
            found = getattr(found, part)
        elif part in getattr(found, "__annotations__", {}):
            return None  # a field of a record
        else:
            module = ".".join(parts[:n])
            assert hasattr(found, "__path__"), f"there is no {module}"
            assert is_module(module), f"there is no {module}"
            if part == "__main__":
                return None  # a program: to import it is to run it
            try:
                found = importlib.import_module(module)
            except ModuleNotFoundError as error:
                if error.name not in ("torch", "triton", "tinygrad"):
                    raise
                return None  # a module of an extra of that name, whose names are not looked up where it is missing
    return found


@EVERY_DOCUMENT
def test_links_lead_somewhere(document: Path) -> None:
    for target in links(document):
        path, _, anchor = target.partition("#")
        linked = document if not path else document.parent / path
        assert linked.exists(), f"{document.name} links to {target}"
        assert not anchor or anchor in headings(linked), f"{document.name} links to {target}: no such heading"


@EVERY_DOCUMENT
def test_paths_are_there(document: Path) -> None:
    spans = {span for span in code_spans(document) if is_path(span)} - set(MADE_BY_THE_READER)
    assert sorted(span for span in spans if not span.startswith("build/") and not exists(span)) == []


@EVERY_DOCUMENT
def test_modules_and_their_names_are_there(document: Path) -> None:
    dotted = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
    for span in code_spans(document):
        name = dotted.fullmatch(span.partition("(")[0])
        if name and span.rpartition(".")[2] not in SUFFIXES:
            resolve(name[0])
