"""Write the instruction explorer: `python -m studies.explorer build/explorer.html` (extra `site`)."""

import argparse
from pathlib import Path

from golden.files import write_atomically
from studies.explorer.explorer_page import page


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.explorer", description=__doc__)
    parser.add_argument("file", type=Path, help="the page to write")
    path = parser.parse_args().file
    text = page()
    write_atomically(path, text.encode())
    print(f"{path}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
