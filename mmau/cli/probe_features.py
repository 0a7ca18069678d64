"""`mmau probe --features`: the papers' tests on several devices under test, side by side."""

import argparse
from pathlib import Path

from golden.device import Device
from golden.files import check_output, is_stdout, write_output
from mmau import OK
from mmau.cli.devices_under_test import chosen
from mmau.cli.json_objects import print_object
from mmau.probe.device_under_test import dut_of
from mmau.probe.papers.comparison_report import as_dict, features_of, html_of, text_of

NOT_WITH = ("recording", "settle", "seconds", "state", "output")
"""Options of the probe that the papers' tests do not take."""

DEFAULTS = (1_000_000, 0)
"""The defaults of --vectors and --seed, which the papers' tests do not take either."""


def run_features(arguments: argparse.Namespace, named: Device | None) -> int:
    """Run `mmau probe --features` and return its exit status.

    Args:
        named: the device under test that the other options name, or None.

    Raises:
        ValueError: no device is named, two share a name, or options exclude each other. DeviceUnderTestError: a device
            misbehaves.
    """
    taken = [option for option in NOT_WITH if getattr(arguments, option) is not None]
    if taken or arguments.tree or (arguments.vectors, arguments.seed) != DEFAULTS:
        raise ValueError("--features takes devices under test, --html and --json; omit the other options of the probe")
    duts = [dut_of_word(word) for word in arguments.features] + ([named] if named is not None else [])
    if not duts:
        raise ValueError(
            "no device under test is named; give --features one or several ARCH:NAME or UNIT.toml, or --dut or --device"
        )
    names = [dut.name for dut in duts]
    if len(set(names)) < len(names):
        raise ValueError(f"the names of the devices under test must differ, got {', '.join(names)}")
    html: Path | None = arguments.html
    if html is not None:
        if is_stdout(html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(html, [Path(word) for word in arguments.features if Path(word).exists()])
    found = [features_of(dut) for dut in duts]
    if html is not None:
        write_output(html, html_of(found).encode())
    if arguments.json:
        print_object("probe-features", as_dict(found))
    elif html is None:
        print(text_of(found), end="")
    elif not is_stdout(html):
        print(f"{len(found)} devices under test: {html}")
    return OK


def dut_of_word(word: str) -> Device:
    """`ARCH:NAME`, or a unit's file, as a device under test."""
    return dut_of(chosen(word))
