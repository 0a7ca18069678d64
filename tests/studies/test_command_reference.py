"""The reference of the commands is what the parser has now, and names every option that the parser accepts."""

import re

import pytest

from mmau.cli.parser import parser
from studies.command_reference import document
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


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_that_the_parser_accepts(name: str) -> None:
    """Those of the usage line, which argparse writes by itself, but for --help and second spellings."""
    usage = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", COMMANDS[name].format_usage())) - {"-h"}
    named = set(re.findall(r"`(--?[a-zA-Z][\w-]*)", section(name)))
    assert usage <= named
    assert named <= set(COMMANDS[name].option_strings()) | {"--features", "--arch"}
