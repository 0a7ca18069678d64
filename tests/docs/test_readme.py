"""The code blocks of the documents: Python runs and gives what it says, units load, commands are ones that there are."""

import re
import tomllib
from pathlib import Path

import pytest

import cosim
import golden
from cosim.dut.formats import load_formats
from explore.space import space_from_table
from golden.unit import ENCODINGS
from mmau.parser import parser
from tests.docs.documents import DOCUMENTS, LANGUAGES, ROOT, Block, all_blocks, blocks, code_spans, commands, is_module
from tests.docs.python_blocks import run_blocks
from tests.explore.space.texts import SMALL, space_of

README = ROOT / "README.md"
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
        case ["gtkwave", _]:
            pass  # what it opens is made by the command before it
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
    """What pytest is to run: its arguments but options, and the values of those that take one as the next word."""
    options = {n for n, word in enumerate(arguments) if word.startswith("-")}
    values = {n + 1 for n in options if arguments[n] in ("-k", "-m", "-n", "--dist")}
    return [word.partition("::")[0] for n, word in enumerate(arguments) if n not in options | values]


def options_of(command: str) -> set[str]:
    """The options of one of mmau's commands."""
    help_text = parser()._subparsers._group_actions[0].choices[command].format_help()  # type: ignore[union-attr, index]
    return options_in(help_text)


def options_in(text: str) -> set[str]:
    """What looks like an option: -o, --arch."""
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


def test_every_block_is_of_a_known_language() -> None:
    assert [str(block) for document in DOCUMENTS for block in blocks(document) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if python_blocks(path)], ids=lambda path: path.name)
def test_python_gives_what_it_says(document: Path) -> None:
    assert run_blocks(python_blocks(document)) > 0


def test_readme_has_python_a_unit_and_commands() -> None:
    assert {"python", "toml", "sh"} <= {block.language for block in blocks(README)}


@pytest.mark.parametrize("block", all_blocks("toml"), ids=str)
def test_toml_is_read(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "block.toml"
    path.write_text(block.text, encoding="utf-8")
    keys = tomllib.loads(block.text)
    if "operation" in keys:
        unit = golden.load_unit(path)
        assert unit.name == keys["name"]
    elif "top" in keys:
        lanes = ROOT / "tests" / "third_party" / "lanes"
        assert cosim.dut_from_table(keys, lanes).top == keys["top"]
    elif "formats" in keys:
        assert load_formats(path) is not None
    elif "sweep" in keys:
        assert space_from_table(keys, tmp_path).name == keys["name"]
    elif "strategy" in keys:  # beside the space that the tests have
        assert space_of(SMALL + '[accuracy]\nworkloads = ["normal"]\n' + block.text).search is not None
    elif "k_order" in keys:
        assert golden.load_order(path).k_order == keys["k_order"]
    else:
        assert "ports" in keys, "nobody reads such a file"
        assert cosim.load_ports(path)


@pytest.mark.parametrize("block", all_blocks("makefile", "systemverilog"), ids=str)
def test_makefiles_and_designs_are_those_of_the_examples(block: Block) -> None:
    files = [path for path in (ROOT / "examples").rglob("*") if path.name == "Makefile" or path.suffix == ".sv"]
    assert len(block.text) > 100
    assert [path for path in files if block.text in path.read_text(encoding="utf-8")] != []


def test_testbench_document_shows_the_whole_example() -> None:
    """The example, which a simulation runs, is shown as it is."""
    _, _, source = (ROOT / "examples/testbench/scaled_dot_tests.py").read_text(encoding="utf-8").partition("\n\n")
    shown = [block.text.strip() for block in python_blocks(ROOT / "docs/testbench.md")]
    assert "\n\n\n".join(text for text in shown if text in source) == source.strip()


def test_readme_unit_lists_every_operation_and_encoding() -> None:
    """The comments of the unit name all that may stand there."""
    text = "\n".join(block.text for block in blocks(README) if block.language == "toml")
    listed = re.search(r"^operation = .*?# (.*)$", text, re.MULTILINE)
    assert listed is not None
    assert listed[1].split(" | ") == list(golden.OPERATIONS)
    encodings = re.search(r"^encoding = (.*)$", text, re.MULTILINE)
    assert encodings is not None
    assert set(re.findall(r'"([\w-]+)"', encodings[1])) == set(ENCODINGS)


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
            case ["mmau", command, *_] | ["python", "-m", "mmau", command, *_]:
                unknown = options_in(span.partition("mmau")[2]) - options_of(command)
                assert not unknown, f"mmau {command} has no {unknown}"
            case ["python", "-m", module, *_]:
                check_command(["python", "-m", module])


def test_readme_counts_the_catalogue() -> None:
    """The numbers of the README that the catalogue decides."""
    text = README.read_text(encoding="utf-8")
    entries = golden.instructions()
    assert f"{len(entries):,} instructions" in text
    assert f"{sum(entry.evidence == 'published' for entry in entries)} of" in text


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("1 + 1  # 3", "says 3, but it is 2"),
        ("-0.0   # 0.0", "says 0.0, but it is -0.0"),
        ("1 + 1", "must say its value"),
        ("x = 1\nx  # 2; explained", "line 8 says 2, but it is 1"),
    ],
)
def test_wrong_value_is_noticed(code: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        run_blocks([Block(README, 7, "python", code)])


@pytest.mark.parametrize(
    "command",
    [
        "make everything",
        "python -m golden.nothing",
        "python examples/none.py",
        "pip install 'mmau[nothing]'",
        "python -c 'import golden.nothing'",
        "rm -rf build",
        "cd nowhere",
        ".venv/bin/pytest tests/nothing -k twin",
        "pytest -n 2 tests/golden tests/golden/test_nothing.py::test_x",
    ],
)
def test_command_that_is_none_is_noticed(command: str) -> None:
    for words in commands(Block(README, 1, "sh", command)):
        with pytest.raises((AssertionError, ModuleNotFoundError)):
            check_command(words)


@pytest.mark.parametrize(
    "command", ["mmau nothing", "mmau list --nothing", "mmau eval --arch sm_90", ".venv/bin/mmau lists"]
)
def test_options_that_are_none_are_noticed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check_command(command.split())
    assert "mmau" in capsys.readouterr().err
