"""`mmau probe`: what a black box computes, from its answers alone."""

import argparse
import json
import sys
from contextlib import nullcontext
from pathlib import Path

from golden.files import check_output, is_stdout, write_output
from mmau import DIFFERED, OK
from mmau.boxes import chosen_box
from mmau.features import run_features
from mmau.recording import run_recording
from probe.box import Box, BoxError, Questioner
from probe.journal import Journal
from probe.loop import Finding, probe
from probe.model import toml_of
from probe.order import Order, order_of
from probe.order import as_dict as order_as_dict
from probe.order import text_of as order_text
from probe.report import as_dict, open_keys, text_of
from probe.rivals import pool_of


def run_probe(arguments: argparse.Namespace) -> int:
    """`mmau probe`."""
    boxes = (arguments.unit, arguments.arch, arguments.instr, arguments.dut, arguments.device, arguments.rtl or None)
    named = (*boxes, arguments.K) != (None,) * 7
    if arguments.features is not None:
        with chosen_box(arguments) if named else nullcontext() as box:
            return run_features(arguments, box)
    if arguments.html is not None:
        raise ValueError("--html goes with --features")
    if arguments.recording is not None:
        if named or (arguments.state, arguments.seconds) != (None, None):
            raise ValueError("--recording is read alone: --seed, -o, --settle and --json go with it")
        return run_recording(arguments)
    if arguments.settle is not None:
        raise ValueError("--settle goes with --recording")
    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"vectors must be at least 1 and seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.seconds is not None and not arguments.seconds >= 0:  # NaN is not either
        raise ValueError(f"--seconds must be at least 0, got {arguments.seconds}")
    check_files(arguments)
    with chosen_box(arguments) as box:
        return _probed(box, arguments)


def check_files(arguments: argparse.Namespace) -> None:
    """Raise ValueError where a file would be written over one that is read, or cannot be."""
    read = [path for path in (arguments.unit, arguments.dut) if path is not None]
    state: Path | None = arguments.state
    if arguments.output is not None:
        check_output(arguments.output, [*read, *([] if state is None else [state])])
        if is_stdout(arguments.output) and arguments.json:
            raise ValueError("--json and -o - both write to stdout; give -o a file")
    if state is not None:
        if is_stdout(state):
            raise ValueError(f"--state must name a file, which is read again to go on from there; got {state}")
        check_output(state, read)


def _probed(box: Box, arguments: argparse.Namespace) -> int:
    """Ask a box, write and show what was found; the exit status."""
    journal = Journal(box.name, box.shape, arguments.state)
    finding = probe(box, arguments.vectors, arguments.seed, journal, arguments.seconds, _say)
    opened = open_keys(finding, pool_of(box.shape, arguments.seed)) if finding.model is not None else []
    order = _order(box, journal, finding) if arguments.tree else None
    if arguments.json:
        print(json.dumps(as_dict(finding, opened) | ({} if order is None else {"order": order_as_dict(order)})))
    else:
        where = sys.stderr if arguments.output is not None and is_stdout(arguments.output) else sys.stdout
        print(text_of(finding, opened), end="", file=where)
        if order is not None:
            print(order_text(order), end="", file=where)
    if finding.stopped is not None:
        _say(finding.stopped)
    if arguments.output is not None and finding.is_whole() and finding.model is not None:
        write_output(arguments.output, toml_of(finding.model, f"probed {finding.box}").encode())
    return OK if finding.is_whole() else DIFFERED


def _order(box: Box, journal: Journal, finding: Finding) -> Order | None:
    """The summation tree from the answers alone; None of a box that ends the probe."""
    if finding.stopped is None:
        try:
            return order_of(Questioner(box, journal))
        except BoxError as error:
            finding.stopped = str(error)
        finally:
            journal.save()
    return None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
