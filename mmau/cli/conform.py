"""`mmau conform`: compare the models with the GPU or the processor of this machine."""

import argparse
from typing import Any

import golden
from golden.files import check_output, is_stdout
from golden.program import PATIENCE, files_of, split
from hwtests import conform
from mmau import DIFFERED, OK
from mmau.cli.json_objects import print_object
from mmau.cli.program_devices import check_unused
from mmau.cli.streams import progress


def run_conform(arguments: argparse.Namespace) -> int:
    """Run `mmau conform` and return its exit status."""
    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"--vectors must be at least 1 and --seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.seconds is not None and arguments.seconds < 0:
        raise ValueError(f"--seconds must be at least 0, got {arguments.seconds}")
    if is_stdout(arguments.report) or (arguments.report.exists() and not arguments.report.is_file()):
        raise ValueError(f"--report must name a file, from which a later run resumes; got {arguments.report}")
    check_output(arguments.report, [] if arguments.program is None else files_of(arguments.program))
    if arguments.record is not None and not arguments.record.is_dir():
        raise ValueError(
            f"--record must name an existing folder, got {arguments.record}; create it: mkdir -p {arguments.record}"
        )
    check_unused(arguments)
    if arguments.program is not None and arguments.arch is None:
        raise ValueError("--program goes with --arch: the program computes instructions of that architecture")
    job = conform.Job(
        arch=None if arguments.arch is None else golden.architecture(arguments.arch), pattern=arguments.instr,
        vectors=arguments.vectors, seed=arguments.seed, seconds=arguments.seconds, retry=arguments.retry,
        record=None if arguments.record is None else str(arguments.record),
    )  # fmt: skip

    report = conform.run_campaign(job, arguments.report, progress, **_worker(arguments, job))
    if all(each.status == "absent" for each in report.instructions.values()):
        details = "; ".join(f"{name}: {each.detail}" for name, each in report.instructions.items())
        raise ValueError(f"this machine has none of the instructions that --instr selects: {details}")
    if arguments.json:
        print_object("conform", report.to_json())
    else:
        print(conform.summary(report))
    return OK if report.agreed() else DIFFERED


def _worker(arguments: argparse.Namespace, job: conform.Job) -> dict[str, Any]:
    """The worker of a campaign, where it is not the one on this machine's GPU."""
    if arguments.program is not None:
        split(arguments.program)
        patience = PATIENCE if arguments.patience is None else arguments.patience
        words = (str(job.arch), arguments.program, arguments.program_form or "text", str(patience))
        return {"worker": (*conform.PROGRAM_WORKER, *words), "hang_seconds": conform.HANG_SECONDS + 2 * patience}
    if job.arch in golden.PROCESSORS:
        return {"worker": (*conform.PROCESSOR_WORKER, str(job.arch))}
    return {}
