"""`python -m studies.answers docs/guides/answers`: write the tables of every page in this folder."""

import sys
from collections.abc import Sequence
from pathlib import Path

from golden.files import write_atomically
from studies.answers import codes, fp8, gpus, monotonic, tolerances
from studies.answers.page_tables import Tables, with_tables

TABLES: Tables = {
    "fp8-kept-bits": fp8.kept_bits,
    "fp8-mma-and-wgmma": fp8.mma_and_wgmma,
    "gpus-differing": gpus.differing_shares,
    "gpus-exact": gpus.exact_beside_units,
    "gpus-orders": gpus.orders,
    "tolerances": tolerances.passes,
    "zeros-and-nan": codes.zeros_and_nan,
    "cdna": codes.cdna,
    "rdna": codes.rdna,
    "amx": codes.amx,
    "vortex": codes.vortex,
    "vortex-share": codes.vortex_share,
    "monotonic-example": monotonic.example,
}


def main(arguments: Sequence[str]) -> None:
    """Write the pages.

    Raises:
        ValueError: wrong arguments, or a page's marks are wrong. OSError: a file cannot be read or written.
    """
    if len(arguments) != 1:
        raise ValueError(f"arguments must be FOLDER, got {len(arguments)}")
    for page in sorted(Path(arguments[0]).glob("*.md")):
        write_atomically(page, with_tables(page.read_text(encoding="utf-8"), TABLES).encode())


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(f"studies.answers: {error}")
