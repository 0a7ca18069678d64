"""`mmau conform`: the model against this machine's GPU, or its processor's own instructions."""

import argparse
import json
import sys

import golden
from golden.files import check_output, is_stdout
from hwtests import conform
from mmau import DIFFERED, OK


def run_conform(arguments: argparse.Namespace) -> int:
    """`mmau conform`."""
    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"--vectors must be at least 1 and --seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.seconds is not None and not arguments.seconds >= 0:  # NaN is not either
        raise ValueError(f"--seconds must be at least 0, got {arguments.seconds}")
    if is_stdout(arguments.report) or (arguments.report.exists() and not arguments.report.is_file()):
        raise ValueError(f"--report must name a file, which is read again to go on from there; got {arguments.report}")
    check_output(arguments.report)
    if arguments.record is not None and not arguments.record.is_dir():
        raise ValueError(
            f"--record must name a folder, and {arguments.record} is none; make it first: mkdir -p {arguments.record}"
        )
    job = conform.Job(
        arch=None if arguments.arch is None else golden.architecture(arguments.arch), pattern=arguments.instr,
        vectors=arguments.vectors, seed=arguments.seed, seconds=arguments.seconds, retry=arguments.retry,
        record=None if arguments.record is None else str(arguments.record),
    )  # fmt: skip

    def show(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if job.arch in golden.PROCESSORS:
        report = conform.run_campaign(job, arguments.report, show, (*conform.PROCESSOR_WORKER, str(job.arch)))
    else:
        report = conform.run_campaign(job, arguments.report, show)
    if all(progress.status == "absent" for progress in report.instructions.values()):
        details = "; ".join(f"{name}: {progress.detail}" for name, progress in report.instructions.items())
        raise ValueError(f"nothing that --instr asks for is here: {details}")
    print(json.dumps(report.to_json()) if arguments.json else conform.summary(report))
    return OK if report.agreed() else DIFFERED
