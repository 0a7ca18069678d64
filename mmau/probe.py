"""`mmau probe`: what a black box computes, from its answers alone."""

import argparse
import json
import sys
from pathlib import Path

import golden
from golden.files import check_output, is_stdout, write_output
from mmau import DIFFERED, OK
from mmau.features import run_features
from mmau.recording import run_recording
from probe.box import Box, box_of_instruction, box_of_unit
from probe.journal import Journal
from probe.loop import Finding, probe
from probe.model import toml_of
from probe.report import as_dict, open_keys, text_of
from probe.rivals import pool_of


def run_probe(arguments: argparse.Namespace) -> int:
    """`mmau probe`."""
    if arguments.features is not None:
        named = (arguments.unit, arguments.arch, arguments.instr, arguments.K) != (None,) * 4
        return run_features(arguments, chosen_box(arguments) if named else None)
    if arguments.html is not None:
        raise ValueError("--html goes with --features")
    if arguments.recording is not None:
        if (arguments.unit, arguments.arch, arguments.instr, arguments.K, arguments.state, arguments.seconds) != (None,) * 6:
            raise ValueError("--recording is read alone: --seed, -o, --settle and --json go with it")
        return run_recording(arguments)
    if arguments.settle is not None:
        raise ValueError("--settle goes with --recording")
    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"vectors must be at least 1 and seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.seconds is not None and not arguments.seconds >= 0:  # NaN is not either
        raise ValueError(f"--seconds must be at least 0, got {arguments.seconds}")
    box = chosen_box(arguments)
    state: Path | None = arguments.state
    if arguments.output is not None:
        check_output(arguments.output, [path for path in (arguments.unit, state) if path is not None])
        if is_stdout(arguments.output) and arguments.json:
            raise ValueError("--json and -o - both write to stdout; give -o a file")
    if state is not None:
        if is_stdout(state):
            raise ValueError(f"--state must name a file, which is read again to go on from there; got {state}")
        check_output(state, [] if arguments.unit is None else [arguments.unit])
    journal = Journal(box.name, box.shape, state)
    finding = probe(box, arguments.vectors, arguments.seed, journal, arguments.seconds, _say)
    opened = open_keys(finding, pool_of(box.shape, arguments.seed)) if finding.model is not None else []
    written = _write_unit(finding, arguments.output)
    if arguments.json:
        print(json.dumps(as_dict(finding, opened)))
    else:
        where = sys.stderr if arguments.output is not None and is_stdout(arguments.output) else sys.stdout
        print(text_of(finding, opened), end="", file=where)
    if finding.is_whole() and not written:
        raise ValueError(
            f"{box.name} is explained, but no unit file can hold it: FP8 as fp16 work with c added last; leave -o out"
        )
    if finding.stopped is not None:
        _say(finding.stopped)
    return OK if finding.is_whole() else DIFFERED


def chosen_box(arguments: argparse.Namespace) -> Box:
    """The box that the options name.

    Raises:
        ValueError: none, or two of them.
    """
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None and by_name == (None, None):
        return box_of_unit(golden.load_unit(arguments.unit), arguments.K)
    if arguments.unit is None and None not in by_name:
        if arguments.K is not None:
            raise ValueError("-K goes with --unit; an instruction has its own")
        return box_of_instruction(golden.instruction(arguments.arch, arguments.instr))
    raise ValueError("say what to probe: --arch with --instr, --unit, or --recording")


def _write_unit(finding: Finding, output: Path | None) -> bool:
    """Write what was found, where that was asked for and all of it is explained. False where no unit file can hold it."""
    if output is None or not finding.is_whole() or finding.model is None:
        return True
    text = toml_of(finding.model, f"probed {finding.box}")
    if text is None:
        return False
    write_output(output, text.encode())
    return True


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
