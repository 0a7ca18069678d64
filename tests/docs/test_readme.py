"""The code blocks of the documents: Python runs and gives what it says, units load, commands are ones that there are."""

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

import cosim
import golden
from cosim.dut.operand_formats import load_formats
from golden.catalogue import table_evidence
from mmau.cli.parser import parser
from mmau.explore.space_file import space_from_table
from tests.docs.documents import (
    DOCUMENTS,
    EXAMPLE_PAGES,
    LANGUAGES,
    ROOT,
    Block,
    all_blocks,
    blocks,
    code_spans,
    commands,
    is_module,
)
from tests.docs.python_blocks import run_blocks
from tests.mmau.explore.texts import SMALL, space_of

README = ROOT / "README.md"
EVIDENCE = ROOT / "docs/evidence/README.md"
TUTORIALS = ROOT / "docs/guides/tutorials"
"""Pages whose blocks run in order, in an empty folder: test_tutorials.py."""
PUBLISHED = "published-fma.md"
"""The page about a published design, whose sources are fetched."""
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def python_blocks(document: Path) -> list[Block]:
    return [block for block in blocks(document) if block.language == "python"]


def check_command(words: list[str]) -> None:
    """Refuse what a reader could not run: an unknown command, target, option or module."""
    words = [re.sub(r"^.*/bin/", "", words[0]), *words[1:]]
    match words:
        case ["make", *targets]:
            unknown = [target for target in targets if "=" not in target and target not in TARGETS]
            assert not unknown, f"the Makefile has no target {unknown}"
        case ["mmau", *arguments] | ["python", "-m", "mmau", *arguments]:
            parser().parse_args(arguments)  # exits where the parser refuses
        case ["python" | "python3", "-m", module, *_]:
            assert is_module(module), f"there is no module {module}"
        case ["python", "-c", code]:
            exec(compile(code, "python -c", "exec"), {})
        case ["dask", program, *_]:
            assert is_module(f"distributed.cli.dask_{program}"), f"dask has no program {program}"
        case ["gtkwave", _] | ["sed", "-i", _, _] | ["build/one_wave", _, _]:
            pass  # the file is made by the command or the block before it
        case ["git", "clone" | "-C", *_]:
            pass  # published designs, which are fetched
        case ["cmake", *_] | ["cc", *_]:
            pass  # test_shell_lines.py runs them
        case ["python", script, *_]:
            assert (ROOT / script).is_file(), f"there is no {script}"
        case ["pip", "install", *packages]:
            extras = [extra for package in packages for extra in re.findall(r"\[([\w,]+)\]", package)]
            unknown = [extra for group in extras for extra in group.split(",") if extra not in EXTRAS]
            assert not unknown, f"pyproject.toml has no extra {unknown}"
        case ["pytest", *arguments]:
            gone = [path for path in paths_of_pytest(arguments) if not (ROOT / path).exists()]
            assert not gone, f"there is no {gone}"
        case _:
            raise AssertionError(f"nobody checks this command: {' '.join(words)}")


def paths_of_pytest(arguments: list[str]) -> list[str]:
    """The paths that pytest is to run: its arguments without options and their values."""
    options = {n for n, word in enumerate(arguments) if word.startswith("-")}
    values = {n + 1 for n in options if arguments[n] in ("-k", "-m", "-n", "--dist")}
    return [word.partition("::")[0] for n, word in enumerate(arguments) if n not in options | values]


def options_of(command: str) -> set[str]:
    """The options of one of mmau's commands."""
    help_text = parser()._subparsers._group_actions[0].choices[command].format_help()  # type: ignore[union-attr, index]
    return options_in(help_text)


def options_in(text: str) -> set[str]:
    """Words that look like an option: -o, --arch."""
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


def needs_torch(block: Block) -> bool:
    """Whether a block computes with PyTorch, which only `make peer` installs."""
    return "import torch" in block.text


def test_every_block_is_of_a_known_language() -> None:
    assert [str(block) for document in DOCUMENTS for block in blocks(document) if block.language not in LANGUAGES] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if python_blocks(path) and path.parent != TUTORIALS and path not in EXAMPLE_PAGES],
    ids=lambda path: path.name,
)
def test_python_gives_what_it_says(document: Path) -> None:
    assert run_blocks([block for block in python_blocks(document) if not needs_torch(block)]) > 0


@pytest.mark.peer
@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if path not in EXAMPLE_PAGES and any(map(needs_torch, python_blocks(path)))],
    ids=lambda path: path.name,
)
def test_python_with_pytorch_gives_what_it_says(document: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    assert run_blocks(python_blocks(document)) > 0


@pytest.mark.parametrize("block", all_blocks("toml"), ids=str)
def test_toml_is_read(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "block.toml"
    path.write_text(block.text, encoding="utf-8")
    keys = tomllib.loads(block.text)
    if "operation" in keys:
        unit = golden.load_unit(path)
        assert unit.name == keys["name"]
    elif "top" in keys and block.document.parent == TUTORIALS:
        (tmp_path / "dot2.sv").write_text(
            next(each.text for each in blocks(block.document) if each.language == "systemverilog")
        )
        assert cosim.dut_from_table(keys, tmp_path).top == keys["top"]
    elif "top" in keys and block.document.name == PUBLISHED:
        for source in keys["sources"]:
            (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / source).touch()
        for include in keys["include"]:
            (tmp_path / include).mkdir(parents=True)
        assert cosim.dut_from_table(keys, tmp_path).top == keys["top"]
    elif "top" in keys:
        lanes = ROOT / "tests" / "third_party" / "lanes"
        assert cosim.dut_from_table(keys, lanes).top == keys["top"]
    elif "formats" in keys:
        assert load_formats(path) is not None
    elif "sweep" in keys:
        assert space_from_table(keys, tmp_path).name == keys["name"]
    elif "strategy" in keys:  # beside the space that the tests have
        assert space_of(SMALL + '[accuracy]\nworkloads = ["normal"]\n' + block.text).strategy is not None
    elif "questions" in keys:
        assert space_of(SMALL + '[accuracy]\nworkloads = ["normal"]\n' + block.text).questions
    elif set(keys) <= {"accuracy", "cost"}:  # tables of a space
        assert space_of(SMALL + block.text).accuracy is not None
    elif "k_order" in keys:
        assert golden.load_order(path).k_order == keys["k_order"]
    elif {"assume", "beats", "matrix", "controls", "flags"} & set(keys):
        folder = ROOT / "tests" / "third_party" / "lanes"
        described = tomllib.loads((folder / "dut.toml").read_text(encoding="utf-8"))
        assert cosim.dut_from_table(described | {"ports": {}} | keys, folder)
    elif "operands" in keys:
        assert set(keys) == {"operands"}
        folder = ROOT / "tests" / "third_party" / "lanes"
        described = tomllib.loads((folder / "dut.toml").read_text(encoding="utf-8"))
        described["ports"].pop("c")
        assert cosim.dut_from_table(described | keys, folder)
    else:
        assert "ports" in keys, "nobody reads such a file"
        assert cosim.load_ports(path)


@pytest.mark.parametrize(
    "block",
    [
        *(
            each
            for each in all_blocks("makefile", "systemverilog", "c")
            if each.document.parent != TUTORIALS and each.document.name != PUBLISHED
        ),
        *(each for document in EXAMPLE_PAGES for each in python_blocks(document)),
    ],
    ids=str,
)
def test_programs_and_designs_are_those_of_the_examples(block: Block) -> None:
    """A block may be a part of a file, and may stand further in there."""
    files = [
        path for path in (ROOT / "examples").rglob("*") if path.name == "Makefile" or path.suffix in {".sv", ".c", ".py"}
    ]
    assert len(block.text) > 100
    there = {block.text, textwrap.indent(block.text, "    ")}
    assert [path for path in files if any(text in path.read_text(encoding="utf-8") for text in there)] != []


@pytest.mark.parametrize("block", all_blocks("sh"), ids=str)
def test_commands_exist(block: Block) -> None:
    found = list(commands(block))
    assert found
    for words in found:
        check_command(words)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_prose_exist(document: Path) -> None:
    """`make …` and `python -m …` as they would be typed; of `mmau …`, which may be a pattern, command and options."""
    for span in code_spans(document):
        match span.split():
            case ["make", *_] as words:
                check_command(words)
            case ["mmau", "--version"]:
                pass
            case ["mmau", command, *_] | ["python", "-m", "mmau", command, *_]:
                unknown = options_in(span.partition("mmau")[2]) - options_of(command)
                assert not unknown, f"mmau {command} has no {unknown}"
            case ["python", "-m", module, *_]:
                check_command(["python", "-m", module])


def test_readme_and_evidence_count_the_catalogue() -> None:
    """The numbers that the catalogue decides."""
    readme, evidence = README.read_text(encoding="utf-8"), EVIDENCE.read_text(encoding="utf-8")
    entries = golden.instructions() + golden.sparse_instructions()
    published = sum(table_evidence(entry.arch)[entry.name] == "published" for entry in entries)
    on_silicon = sum(entry.evidence in ("published", "third-party", "recorded") for entry in entries)
    assert f"one of {len(entries):,} instructions" in readme
    assert f"[{on_silicon} of the {len(entries):,} instructions]" in readme
    assert f"models of {on_silicon} instructions" in readme
    assert f"the {published} of" in evidence
