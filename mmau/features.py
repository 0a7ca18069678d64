"""`mmau probe --features`: the papers' tests on several boxes, side by side."""

import argparse
import json
from pathlib import Path

from golden import Instruction
from golden.files import check_output, is_stdout, write_output
from mmau import OK
from mmau.distinguish import chosen
from probe.box import Box, box_of_instruction, box_of_unit
from probe.papers.report import as_dict, features_of, html_of, text_of

NOT_WITH = ("recording", "settle", "seconds", "state", "output")
"""Options of the probe that the papers' tests do not take."""

DEFAULTS = (1_000_000, 0)
"""The probe's own --vectors and --seed, which they do not take either."""


def run_features(arguments: argparse.Namespace, named: Box | None) -> int:
    """`mmau probe --features`.

    Args:
        named: the box that the other options name, if they do.

    Raises:
        ValueError: no box, two of one name, options that do not go together. BoxError: a box that misbehaves.
    """
    taken = [option for option in NOT_WITH if getattr(arguments, option) is not None]
    if taken or arguments.tree or (arguments.vectors, arguments.seed) != DEFAULTS:
        raise ValueError("--features takes boxes, --html and --json; leave the probe's other options out")
    boxes = [box_of_word(word) for word in arguments.features] + ([named] if named is not None else [])
    if not boxes:
        raise ValueError("say which boxes: --features ARCH:NAME or UNIT.toml, several if need be, or --dut, --device")
    names = [box.name for box in boxes]
    if len(set(names)) < len(names):
        raise ValueError(f"every box must have its own name, got {', '.join(names)}")
    html: Path | None = arguments.html
    if html is not None:
        if is_stdout(html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(html, [Path(word) for word in arguments.features if Path(word).exists()])
    found = [features_of(box) for box in boxes]
    if html is not None:
        write_output(html, html_of(found).encode())
    if arguments.json:
        print(json.dumps(as_dict(found)))
    elif html is None:
        print(text_of(found), end="")
    elif not is_stdout(html):
        print(f"{len(found)} boxes: {html}")
    return OK


def box_of_word(word: str) -> Box:
    """`ARCH:NAME`, or a unit's file, as a box."""
    model = chosen(word)
    return box_of_instruction(model) if isinstance(model, Instruction) else box_of_unit(model)
