"""Files of vectors for native/file_rows.cpp: the vectors that `mmau cosim` sends, with golden's results."""

import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path

from cosim.bench.coverage import Coverage, ReferenceSample
from cosim.bench.products import Vector
from cosim.bench.scoreboard import Selection
from cosim.bench.stimulus import Specification
from cosim.volume.design_plan import operand_ports, products_of
from rtl.designs.design import Design

MAGIC = b"MMAUROW1"

LABELS = 256
"""Largest number of classes of one kind of dot product. Each kind numbers its classes from a multiple of this number."""


@dataclass
class RowsFile:
    """A file of vectors, and its contents.

    Attributes:
        path: path of the file.
        sample: the rows that the reference engine computes too.
        vectors: number of vectors in the file. left_out: vectors that the selection excludes.
        classes: name of each class with rows in the file, by number.
        coverage: coverage of the vectors, valid if all of them agree.
    """

    path: Path
    sample: ReferenceSample
    vectors: int = 0
    left_out: int = 0
    classes: dict[int, str] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)


def write_rows(
    design: Design,
    specification: Specification,
    vectors: int,
    seed: int,
    path: Path,
    *,
    results: int = 1,
    first: int = 0,
    selection: Selection | None = None,
) -> RowsFile:
    """Write the vectors of one simulation, the same as those of a run in cocotb.

    Args:
        specification: specification of the design. vectors, seed: number of vectors and seed of the stimulus.
        path: path of the file. results: dot products in a vector.
        first: number of the first vector in the run.
        selection: the vectors that are sent; None for all.
    """
    chosen = selection or Selection()
    writer = _Writer(design, results)
    found, number = RowsFile(path, ReferenceSample(seed)), first
    for chunk in specification.chunks(vectors, seed):
        numbered = [vector._replace(number=at) for at, vector in enumerate(chunk.vectors, number)]
        number += len(numbered)
        sent = numbered if chosen.is_everything else [vector for vector in numbered if chosen.takes(vector)]
        found.vectors += len(sent)
        found.left_out += len(numbered) - len(sent)
        for products in chunk.products:
            found.sample.add(products, [e.row for vector in sent for e in vector.elements if e.products is products])
        for vector in sent:
            writer.add(vector)
            found.coverage.count(vector.elements)
            found.coverage.count_flags(vector, design.echoes)
    found.classes = writer.classes
    path.write_bytes(writer.content())
    return found


class _Writer:
    """The columns of a file of vectors."""

    def __init__(self, design: Design, results: int) -> None:
        widths = {port.name: port.width * results for port in design.ports} | dict(design.shared_inputs)
        self._sizes = [(port, storage_bytes(widths[port])) for port in operand_ports(design)]
        self._products = {product.name: number for number, product in enumerate(products_of(design))}
        self._number, self._expected = array("Q"), array("Q")
        self._label, self._product = array("H"), array("H")
        self._transfers = bytearray()
        product = products_of(design)[0]
        self._shape = product.steps * product.passes, results * product.m * product.n
        self.classes: dict[int, str] = {}

    def add(self, vector: Vector) -> None:
        """Add a vector."""
        self._number.append(vector.number)
        for element in vector.elements:
            products, row = element.products, element.row
            number = self._products[products.name]
            label = number * LABELS + int(products.label[row])
            if label not in self.classes:
                self.classes[label] = products.made_by(row)
            self._expected.append(products.expected[row])
            self._label.append(label)
        self._product.append(number)
        for transfer in vector.transfers:
            for port, size in self._sizes:
                self._transfers += transfer[port].to_bytes(size, "little")

    def content(self) -> bytes:
        """The content of the file."""
        transfers, elements = self._shape
        record = sum(size for _, size in self._sizes)
        header = struct.pack("<8s4q", MAGIC, len(self._number), transfers, record, elements)
        columns = (self._number, self._expected, self._label, self._product)
        return b"".join([header, *(_padded(column.tobytes()) for column in columns), self._transfers])


def _padded(content: bytes) -> bytes:
    """Pad to a multiple of 8 bytes."""
    return content + bytes(-len(content) % 8)


def storage_bytes(bits: int) -> int:
    """The size of Verilator's variable for a port (bytes)."""
    return next((size for size in (1, 2, 4, 8) if bits <= 8 * size), -(-bits // 32) * 4)
