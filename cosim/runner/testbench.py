"""The cocotb test that runs inside the simulator: compares one design with its golden model, as the job file says."""

import gc
import time
from asyncio import CancelledError  # cocotb raises it in a test whose simulation has ended
from collections.abc import Sequence
from typing import Any

import cocotb

from cosim.bench.mismatch import ComparedRow, Minimised, compared_row
from cosim.bench.products import EchoRows, Vector
from cosim.bench.protocol import Timing
from cosim.bench.run_vectors import ask, exercise
from cosim.bench.scoreboard import Result, Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.runner.job import ENDED, Heartbeat, Job, Simulated
from golden.files import write_atomically
from golden.processes import end_with_parent
from rtl.designs.identity import design_from_table


@cocotb.test()
async def design_agrees_with_golden_model(dut: Any) -> None:
    """Send every vector, compare every result, leave the outcome."""
    job = Job.from_environment()
    end_with_parent(job.parent)
    design, request, part = design_from_table(job.design), job.request, job.part
    timing = request.timing(design)
    operands = [port.name for port in design.ports if port.name not in Timing.of_design(design).controls]
    pins = {name: getattr(dut, name) for name in (*operands, *timing.controls)}
    heartbeat = Heartbeat(job.heartbeat)
    first: list[tuple[Result, ComparedRow]] = []

    def differs(result: Result) -> None:
        if not first and not isinstance(result.wrong[0][0].products, EchoRows):
            first.append((result, compared_row(result.number, *result.wrong[0], scoreboard.now())))

    class Beating(Scoreboard):
        """A scoreboard with a heartbeat for every vector and every result."""

        def send(self, vector: Vector) -> None:
            super().send(vector)
            self.beat()

        def receive(self, result: int | str) -> None:
            super().receive(result)
            self.beat()

        def beat(self) -> None:
            heartbeat.beat(self.sent, self.received, self.mismatches)

    specification = specification_of(design, request.results, request.widths)
    if job.given is not None:
        from cosim.volume.decoded_vectors import GivenVectors  # the stimulus of a seed does without

        specification = GivenVectors.of(design, request.results, job.given)
    scoreboard = Beating(
        specification,
        part.vectors,
        part.seed,
        request.compare,
        selection=request.selection,
        first=part.first,
        fail_fast=request.fail_fast,
        echoes=design.echoes,
        on_mismatch=differs,
    )
    scoreboard.beat()
    gc.freeze()  # all objects so far stay alive: no collection need examine them again
    started = time.perf_counter()

    def leave(seconds: float, minimised: Minimised | None = None) -> None:
        found = Simulated(outcome=scoreboard.outcome(), seconds=seconds, minimised=minimised)
        write_atomically(job.simulated, found.to_json().encode())

    def seconds() -> float:
        return time.perf_counter() - started - scoreboard.golden_seconds

    async def asked(vectors: Sequence[Vector]) -> list[int | str]:
        scoreboard.beat()
        return await ask(pins, timing, vectors)

    try:
        await exercise(pins, timing, scoreboard, part.seed)
    except CancelledError:
        scoreboard.stop(ENDED)
        leave(seconds())
        raise
    ran = seconds()
    leave(ran)  # other exceptions leave nothing: they are not the design's failure
    if first and request.widths.d is None and (scoreboard.stopped is None or request.fail_fast):
        from cosim.bench.minimise import minimised  # a run that passes does without

        result, row = first[0]
        wrong, assumed = result.wrong[0][0], request.widths.assumed
        leave(ran, await minimised(asked, result.vector, wrong, row, request.compare, assumed))
