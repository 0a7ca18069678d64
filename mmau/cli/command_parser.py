"""The parser of a command: an example in its help, and errors of one line that name the near spelling."""

import argparse
import difflib
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

from mmau import WRONG_REQUEST
from mmau.cli.streams import say

_WRONG_NUMBER = re.compile(r"argument (\S+): invalid (int|float) value: (.*)", re.DOTALL)
"""The message of argparse for an option whose value is no number."""

LONGEST = 10**7
"""Most seconds that an option takes: a third of a year. Waits of the system end far above, with an error of its own."""

_NUMBERS = {"int": "a whole number, in digits", "float": f"a number of seconds, at most {LONGEST}"}

_NO_VALUE = re.compile(r"argument (\S+): expected one argument")
"""The message of argparse for an option without a value: it takes no word for one that begins with a minus sign."""


def whole_number(word: str) -> int:
    """The number that ASCII digits write; Python's `int` also takes other scripts' digits, underscores and blanks.

    Raises:
        ValueError: another text.
    """
    return int(_ascii(word))


def seconds(word: str) -> float:
    """The seconds that a text of ASCII characters writes, without underscores and blanks.

    Raises:
        ValueError: another text, no number (NaN), or more than `LONGEST`.
    """
    value = float(_ascii(word))
    if not value <= LONGEST:
        raise ValueError(f"more than {LONGEST} seconds: {word}")
    return value


def _ascii(word: str) -> str:
    if not word.isascii() or "_" in word or word != word.strip():
        raise ValueError(f"not a number in ASCII digits: {word!r}")
    return word


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line on stderr with exit status 2.

    Attributes:
        commands: the parser of each command by its name; empty for the parser of one command.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.commands: dict[str, CommandParser] = {}
        self.register("type", int, whole_number)
        self.register("type", float, seconds)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program with a status. A message is printed to stderr; of each long line it shows the beginning and the
        end."""
        if message:
            say(message.rstrip("\n"))
        sys.exit(status)

    def error(self, message: str) -> NoReturn:
        """End the program with the message and where help is."""
        if (wrong := _WRONG_NUMBER.fullmatch(message)) is not None:
            message = f"{wrong[1]} must be {_NUMBERS[wrong[2]]}; got {wrong[3]}"
        elif (option := _NO_VALUE.fullmatch(message)) is not None:
            name = option[1].rpartition("/")[2]
            joined = f"{name}=-1" if name.startswith("--") else f"{name}-1"
            message = f"{option[1]} takes a value; one that begins with a minus sign follows without a blank: {joined}"
        self.exit(WRONG_REQUEST, f"{self.prog}: {message} ({self.prog} --help shows every option)\n")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse the command and its options; an unknown option ends the program with a message that suggests the nearest
        one."""
        words = sys.argv[1:] if args is None else list(args)
        if not words:
            self.exit(
                WRONG_REQUEST,
                f"{self.prog}: give a command: {', '.join(self.commands)} ({self.prog} --help explains them)\n",
            )
        if not words[0].startswith("-") and words[0] not in self.commands:
            self.exit(
                WRONG_REQUEST, f"{self.prog}: {unknown('command', words[0], self.commands)} ({self.prog} --help lists all)\n"
            )
        known, rest = self.parse_known_args(words, namespace)
        if rest:
            command = self.commands[known.command]
            command.error(command.unexpected(rest[0]))
        return known

    def option_strings(self) -> list[str]:
        """Every spelling of every option."""
        return [spelling for action in self._actions for spelling in action.option_strings]

    def unexpected(self, word: str) -> str:
        """The message for a word that the command does not take, with the option that was probably meant."""
        if word.startswith("-"):
            return unknown("option", word.partition("=")[0], self.option_strings())
        takes = self.option_strings()
        if word.endswith(".toml") and "--unit" in takes:
            return f"unexpected word {word!r}; a unit's file goes with --unit: --unit {word}"
        if word.endswith((".v", ".sv")) and "--top" in takes:
            return f"unexpected word {word!r}; a design's Verilog goes with --dut and --top: --dut {word} --top NAME"
        if "--arch" in takes and is_architecture(word):
            option = "--on" if "--on" in takes else "--arch"
            return f"unexpected word {word!r}; an architecture goes with {option}: {option} {shlex.quote(word)}"
        return f"unexpected word {word!r}"


Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
"""The argparse object to which each command is added."""


def command(commands: Commands, name: str, function: str, summary: str, example: str, **defaults: Any) -> CommandParser:
    """The parser of one command.

    Args:
        function: `module:function` in mmau.cli, which runs the command. summary: a phrase without a full stop.
        example: a complete command line, no line longer than a terminal.
    """
    added = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", epilog=f"example:\n  {example}"
    )
    module, _, function = function.partition(":")
    added.set_defaults(module=f"mmau.cli.{module}", function=function, **defaults)
    return added


def is_architecture(word: str) -> bool:
    """Whether a word names an architecture of the catalogue. The catalogue is imported only here."""
    with suppress(ValueError):
        import_module("golden.catalogue").architecture(word)
        return True
    return False


def unknown(kind: str, word: str, known: Sequence[str] | dict[str, Any]) -> str:
    """`unknown option --vectros; did you mean --vectors?`; without the question where no spelling is near."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"unknown {kind} {word}" + (f"; did you mean {near[0]}?" if near else "")
