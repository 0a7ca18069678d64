"""`python -m analysis PAGE FOLDER [SEED]`: writes one page of docs/analysis, and what it shows."""

import sys
from importlib import import_module
from pathlib import Path

from golden.checks import check_choice
from golden.files import write_atomically

PAGES = ("discrepancy", "bounds", "risks", "bias", "monotonicity", "symmetry", "mitigation")


def main(arguments: list[str]) -> None:
    """Write the page's files into the folder.

    Raises:
        ValueError: no such page, or arguments that are missing or too many.
    """
    if len(arguments) not in (2, 3):
        raise ValueError(f"give PAGE FOLDER [SEED], got {len(arguments)} arguments")
    check_choice("PAGE", arguments[0], PAGES)
    folder = Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    page = import_module(f"analysis.{arguments[0]}").page(int(arguments[2]) if arguments[2:] else 0)
    for name, content in page.files.items():
        write_atomically(folder / name, content)


if __name__ == "__main__":
    main(sys.argv[1:])
