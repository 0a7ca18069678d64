"""The reference of the commands is what the parser has now, and names every option that the parser accepts."""

import re

import pytest

from mmau.cli.parser import parser
from studies.command_reference import document, option_rows
from tests.docs.documents import ROOT

PAGE = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
COMMANDS = parser().commands


def test_page_is_current() -> None:
    assert document() == PAGE, "run: python -m studies.command_reference docs/reference/commands.md"


def section(name: str) -> str:
    """The page's section of one command."""
    found = re.search(rf"^## mmau {name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_commands_are_those_of_the_parser() -> None:
    assert re.findall(r"^## mmau (\w+)$", PAGE, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_that_the_parser_accepts(name: str) -> None:
    """Those of the usage line, which argparse writes by itself, but for --help and second spellings."""
    usage = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", COMMANDS[name].format_usage())) - {"-h"}
    named = set(re.findall(r"`(--?[a-zA-Z][\w-]*)", section(name)))
    assert usage <= named
    assert named <= set(COMMANDS[name].option_strings()) | {"--features", "--arch"}


def test_every_row_has_a_spelling_and_a_phrase() -> None:
    for command in COMMANDS.values():
        rows = [row for group in command._action_groups for row in option_rows(command, group)]
        assert rows
        assert [row for row in rows if not re.fullmatch(r"`[^`]+`.*", row[0]) or not re.fullmatch(r"\S.+", row[1])] == []


def test_every_exit_status_is_explained() -> None:
    assert re.findall(r"^\| (\d+|128 \+ n) \|", PAGE, re.MULTILINE) == ["0", "1", "2", "3", "128 + n"]
