"""Put what the calls of `python -m hwtests.h200` handed over together again.

python -m hwtests.h200.unpack OUT... INTO
"""

import sys
from pathlib import Path

from golden import recording
from hwtests.h200.pieces import unpack


def main(outs: list[Path], into: Path) -> int:
    """Unpack, and index the recordings; returns how many files were written.

    Raises:
        ValueError: no piece, or one that is damaged or not all there. OSError: it cannot be read or written.
    """
    names = unpack(outs, into)
    for name in names:
        if name.startswith("recordings/"):
            recording.write(into / "recordings", recording.read(into / name))
    return len(names)


if __name__ == "__main__":
    try:
        *given, last = map(Path, sys.argv[1:])
        print(f"{main(given, last):,} files")
    except (ValueError, OSError) as error:
        print(f"hwtests.h200.unpack: {error}", file=sys.stderr)
        sys.exit(2)
