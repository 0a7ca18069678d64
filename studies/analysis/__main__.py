"""`python -m studies.analysis PAGE FOLDER [SEED]`: writes one page of docs/evidence/analysis, and what it shows."""

import sys
from importlib import import_module
from pathlib import Path

from golden.checks import check_choice
from studies.pages import write_files

PAGES = ("discrepancy", "bounds", "risks", "bias", "monotonicity", "symmetry", "mitigation")


def main(arguments: list[str]) -> None:
    """Write the page's files into the folder.

    Raises:
        ValueError: no such page, or arguments that are missing or too many.
    """
    if len(arguments) not in (2, 3):
        raise ValueError(f"give PAGE FOLDER [SEED], got {len(arguments)} arguments")
    check_choice("PAGE", arguments[0], PAGES)
    module = import_module(f"studies.analysis.{arguments[0]}")
    write_files(Path(arguments[1]), module.page(int(arguments[2]) if arguments[2:] else 0))


if __name__ == "__main__":
    main(sys.argv[1:])
