"""The command line's parser; `docs/reference/commands.md` is written from it."""

import argparse
from importlib import import_module
from typing import Any

from mmau.cli.command_parser import CommandParser
from mmau.cli.design_commands import DESIGN_COMMANDS
from mmau.cli.model_commands import MODEL_COMMANDS


def parser() -> CommandParser:
    """The command line's parser.

    The parsed arguments name the command's `module` and `function`. The module is imported when its command runs, because
    the commands need different packages.
    """
    top = CommandParser(
        prog="mmau",
        description="The arithmetic of matrix multiply-accumulate units, bit for bit.",
        epilog="`mmau COMMAND --help` explains the options of a command and shows an example.",
    )
    top.add_argument("--version", nargs=0, action=PrintVersion, help="print the version and the commit, and exit")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for add in (*MODEL_COMMANDS, *DESIGN_COMMANDS):
        add(commands)
    top.commands = dict(commands.choices)
    return top


class PrintVersion(argparse.Action):
    """Prints the version and the commit of what runs. Both are looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        version = import_module("golden.text").mmau_version()
        print(f"mmau {version} (commit {import_module('golden.commit').commit()})")
        parser.exit()
