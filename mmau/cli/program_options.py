"""The options of `--program`; `mmau.cli.program_devices` interprets them."""

from mmau.cli.options import Group


def add_program(group: Group, formats: bool = True) -> None:
    """The options that name a program.

    Args:
        formats: whether the command has an option for its formats.
    """
    group.add_argument(
        "--program",
        metavar="CMD",
        help="run this program as the device; quote it with its arguments. It reads a header line, then a row of operands a "
        "line, as `mmau vectors` writes them without d, and prints one d a line",
    )
    if formats:
        group.add_argument(
            "--formats",
            metavar="KEYS",
            help="say what the program takes: 'a=fp16 b=fp16 c=fp32 d=fp32 K=16', and scale and K_block where it is scaled "
            "(default: as the unit or the instruction)",
        )
    group.add_argument(
        "--program-form", choices=["text", "binary"], help="exchange lines of text or packed codes with it (default: text)"
    )
    group.add_argument(
        "--patience", type=float, metavar="S", help="end when the program has been silent for S seconds (default: 60)"
    )
