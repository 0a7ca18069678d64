"""A cocotb test that drives a unit's operand ports and reads d, vector by vector at full speed, and does nothing else."""

import json
import os
import time
from pathlib import Path
from typing import Any

import cocotb

from cosim.bench.protocol import Timing
from cosim.bench.run_vectors import SETTLE
from cosim.bench.stimulus import specification_of
from rtl.designs.from_table import design_from_table

VARIABLE = "MMAU_EMPTY_LOOP"
"""Environment variable that names the job: a JSON file with `design`, `vectors`, `seed` and `result`, a file to write."""


@cocotb.test()
async def drives_and_reads(dut: Any) -> None:
    """Leave the duration in seconds."""
    job = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8"))
    design = design_from_table(job["design"])
    chunks = specification_of(design).chunks(job["vectors"], job["seed"])
    transfers = [dict(vector.transfers[0]) for chunk in chunks for vector in chunk.vectors]
    pins = [(name, getattr(dut, name)) for name in transfers[0]]
    clocked = Timing.of_design(design).protocol != "combinational"
    if clocked:
        dut.rst.value, dut.in_valid.value, dut.out_ready.value = 0, 1, 1
    started = time.perf_counter()
    for transfer in transfers:
        if clocked:
            dut.clk.value = 0
        for name, pin in pins:
            pin.value = transfer[name]
        await SETTLE
        if clocked:
            dut.clk.value = 1
            await SETTLE
        str(dut.d.value)
    Path(job["result"]).write_text(json.dumps(time.perf_counter() - started), encoding="utf-8")
