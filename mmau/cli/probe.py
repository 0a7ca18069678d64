"""`mmau probe`: infer the arithmetic of a device under test from its answers alone."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from golden.device import Device
from golden.files import check_output, is_stdout, write_output
from golden.program import files_of
from mmau import DIFFERED, OK
from mmau.cli.devices_under_test import chosen_device
from mmau.cli.json_objects import print_object
from mmau.cli.probe_features import run_features
from mmau.cli.probe_recording import run_recording
from mmau.cli.streams import progress
from mmau.probe.candidates import pool_of
from mmau.probe.device_under_test import DeviceUnderTestError, Questioner
from mmau.probe.find_tree import Order, order_of
from mmau.probe.find_tree import as_dict as order_as_dict
from mmau.probe.find_tree import text_of as order_text
from mmau.probe.journal import Journal
from mmau.probe.loop import Finding, probe
from mmau.probe.model import toml_of
from mmau.probe.probe_report import as_dict, open_keys, text_of


def run_probe(arguments: argparse.Namespace) -> int:
    """Run `mmau probe` and return its exit status."""
    duts = (arguments.unit, arguments.arch, arguments.instr, arguments.dut, arguments.device, arguments.rtl or None)
    named = (*duts, arguments.K, arguments.program) != (None,) * 8
    if arguments.features is not None:
        with chosen_device(arguments) if named else nullcontext() as dut:
            return run_features(arguments, dut)
    if arguments.html is not None:
        raise ValueError("--html goes with --features")
    if arguments.recording is not None:
        if named or (arguments.state, arguments.seconds) != (None, None):
            raise ValueError("--recording goes without a device; only --seed, -o, --settle and --json go with it")
        return run_recording(arguments)
    if arguments.settle is not None:
        raise ValueError("--settle goes with --recording")
    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"vectors must be at least 1 and seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.seconds is not None and arguments.seconds < 0:
        raise ValueError(f"--seconds must be at least 0, got {arguments.seconds}")
    check_files(arguments)
    with chosen_device(arguments) as dut:
        return _probed(dut, arguments)


def check_files(arguments: argparse.Namespace) -> None:
    """Raise ValueError where an output file is also an input, or cannot be written."""
    read = [path for path in (arguments.unit, arguments.dut) if path is not None]
    read += [] if arguments.program is None else files_of(arguments.program)
    state: Path | None = arguments.state
    if arguments.output is not None:
        check_output(arguments.output, [*read, *([] if state is None else [state])])
        if is_stdout(arguments.output) and arguments.json:
            raise ValueError("--json and -o - both write to stdout; give -o a file")
    if state is not None:
        if is_stdout(state):
            raise ValueError(f"--state must name a file, from which a later run resumes; got {state}")
        check_output(state, read)


def _probed(dut: Device, arguments: argparse.Namespace) -> int:
    """Probe a device under test, write and print the findings; return the exit status."""
    journal = Journal(dut.name, dut.shape, arguments.state, dut.identity)
    finding = probe(dut, arguments.vectors, arguments.seed, journal, arguments.seconds, progress)
    opened = open_keys(finding, pool_of(dut.shape, arguments.seed)) if finding.model is not None else []
    order = _order(dut, journal, finding) if arguments.tree and finding.order is None else None
    if arguments.json:
        print_object("probe", as_dict(finding, opened) | ({} if order is None else {"order": order_as_dict(order)}))
    else:
        where = sys.stderr if arguments.output is not None and is_stdout(arguments.output) else sys.stdout
        print(text_of(finding, opened), end="", file=where)
        if order is not None:
            print(order_text(order), end="", file=where)
    if finding.stopped is not None:
        progress(finding.stopped)
    if arguments.output is not None and finding.is_whole() and finding.model is not None:
        write_output(arguments.output, toml_of(finding.model, f"probed {finding.dut}").encode())
    return OK if finding.is_whole() else DIFFERED


def _order(dut: Device, journal: Journal, finding: Finding) -> Order | None:
    """The summation tree from the answers alone; None where the device under test ends the probe."""
    if finding.stopped is None:
        try:
            return order_of(Questioner(dut, journal))
        except DeviceUnderTestError as error:
            finding.stopped = str(error)
        finally:
            journal.save()
    return None
