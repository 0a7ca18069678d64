"""The reference of all commands and options, from the parser itself.

python -m studies.command_reference docs/reference/commands.md
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from golden.files import write_atomically
from mmau.cli.command_parser import CommandParser
from mmau.cli.parser import parser
from mmau.report.markdown import table

HEAD = """\
# Commands

Written by `python -m studies.command_reference docs/reference/commands.md`; do not edit. The option `--help` of
a command shows the same.

## What all commands share

- A design is named by `--unit UNIT.toml` ([file formats](file-formats.md)) or by `--arch A --instr NAME`, as `mmau list`
  prints them. An architecture may be named as `sm_90` or as `Hopper`. Unknown names are answered with the near ones.
- `--json` prints one machine-readable object on stdout instead of text. Its first key, `schema`, names its schema and its
  version ([promises](promises.md#json)). Progress and messages go to stderr.
- `mmau --version` prints the version and the commit of the sources.
- `-o -` and `--output -` write to stdout. An output never replaces a file that the command reads.
- A message is one line: what is wrong, the rule, the value received.

| exit status | meaning |
| --- | --- |
| 0 | everything agreed, or is done |
| 1 | something differed, or a design misbehaved; the report shows the first mismatches |
| 2 | the request was wrong, a tool is missing or failed, a design cannot be built, or the output cannot be written |
| 3 | not decided: `mmau prove` has open questions, or `mmau distinguish` found no difference and no proof |
| 128 + n | signal n ended the command |
"""

GUIDES = {
    "list": ("../numerics.md", "formal.md"),
    "evidence": ("../evidence/recordings.md", "../evidence/README.md"),
    "eval": ("../numerics.md",),
    "vectors": ("stimulus.md",),
    "rtl": ("explore-cost.md",),
    "cosim": ("own-design.md", "testbench.md", "volume.md", "rtl-coverage.md"),
    "prove": ("formal.md",),
    "explore": ("explore.md",),
    "compare": ("../evidence/analysis/README.md",),
    "distinguish": ("probing.md", "riscv-matrix.md"),
    "disclose": ("riscv-matrix.md",),
    "probe": ("probing.md", "../evidence/papers.md"),
    "conform": ("silicon.md",),
    "order": ("gemm.md",),
}
"""The pages that say more about each command, as paths from docs/guides."""


def document() -> str:
    """The text of the page docs/reference/commands.md."""
    return "\n".join((HEAD, *(section(name, command) for name, command in parser().commands.items())))


def section(name: str, command: CommandParser) -> str:
    """A command: what it does, its example, and its options by group."""
    links = ", ".join(f"[{Path(page).name}]({_from_reference(page)})" for page in GUIDES[name])
    _, _, example = (command.epilog or "").partition("\n  ")
    lines = [f"## mmau {name}", "", f"{command.description} More: {links}.", "", "```sh", example, "```", ""]
    rows = [
        (str(group.title) if number == 0 else "", *cells)
        for group in command._action_groups
        for number, cells in enumerate(option_rows(command, group))
    ]
    return "\n".join((*lines, table(("group", "option", "what it does"), rows), ""))


def option_rows(command: CommandParser, group: argparse._ArgumentGroup) -> Iterator[tuple[str, str]]:
    """Two cells for each option of a group: how it is written, and its help."""
    formatter = command._get_formatter()
    for action in group._group_actions:
        if "--help" not in action.option_strings:
            value = (
                "" if action.nargs == 0 else f" {formatter._format_args(action, str(action.metavar or _choices(action)))}"
            )
            spelling = ", ".join(f"`{text}{value}`" for text in action.option_strings) or f"`{action.metavar}`"
            yield spelling, formatter._expand_help(action)


def _choices(action: argparse.Action) -> str:
    return "{" + ",".join(map(str, action.choices or ())) + "}"


def _from_reference(page: str) -> str:
    return page if page.startswith("../") else f"../guides/{page}"


def main() -> None:
    """Write the page to the path that is the argument."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m studies.command_reference docs/reference/commands.md")
    write_atomically(Path(sys.argv[1]), document().encode())


if __name__ == "__main__":
    main()
