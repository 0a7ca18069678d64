"""The command line's answers to common mistakes, and its help: groups, phrases, defaults and an example that parses."""

import argparse
import re
import shlex

import pytest

from mmau.cli import main
from mmau.cli.command_parser import CommandParser
from mmau.cli.parser import parser

COMMANDS = parser().commands


def options_of(command: CommandParser) -> list[argparse.Action]:
    """A command's options and words, but --help."""
    return [action for action in command._actions if "--help" not in action.option_strings]


@pytest.mark.parametrize("argv", [["9" * 9000], ["list", "9" * 9000], ["cosim", "--vectors", "9" * 9000]])
def test_long_word_is_shown_in_part(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(argv) == 2
    said = capsys.readouterr().err
    assert " more characters) … " in said
    assert len(said) < 2100


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_a_group_and_explained(name: str) -> None:
    """A phrase that begins with a verb, with the default where there is a value of one."""
    command = COMMANDS[name]
    assert sum(len(group._group_actions) for group in command._action_groups[:2]) == 1, "only --help is in no named group"
    for action in options_of(command):
        text = command._get_formatter()._expand_help(action)
        where = f"{name} {action.option_strings or action.dest}: {text}"
        assert len(text.split()) >= 4, where
        if action.default not in (None, False, []):
            assert "(default: " in text, where
        if action.required:
            assert text.endswith("; required"), where


@pytest.mark.parametrize("name", COMMANDS)
def test_example_of_the_help_parses(name: str) -> None:
    found = re.fullmatch(r"example:\n  mmau (.*)", COMMANDS[name].epilog or "")
    assert found is not None
    words = shlex.split(found[1])
    assert words[0] == name
    assert parser().parse_args(words).command == name


def test_default_in_the_help_is_the_one_that_is_parsed() -> None:
    """Defaults that the text states in words of its own, beside those that argparse fills in."""
    stated = {
        (name, action.dest): found[1]
        for name, command in COMMANDS.items()
        for action in options_of(command)
        if action.default not in (None, False, []) and (found := re.search(r"\(default: (.*)\)", str(action.help)))
    }
    assert stated.pop(("conform", "instr")) == "all"
    assert set(stated.values()) == {"%(default)s", "%(default)g"}
