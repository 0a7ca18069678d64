"""The two forms of rows and answers: lines of hexadecimal codes, as `mmau vectors` writes them, and packed codes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.formats import Format

DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)

SHOWN = 60
"""Characters of a malformed answer that a message shows."""

Column = tuple[BitArray, Format]
"""One operand of a question: its codes, [rows] or [rows, n], and their format."""


def digits_of(operand: Format) -> int:
    """Hexadecimal digits of a code."""
    return -(-operand.width // 4)


def lines_of(columns: Sequence[Column]) -> bytes:
    """A line for each row: the codes of all columns, lowest element first, separated by blanks."""
    parts = []
    for codes, operand in columns:
        digits, whole = digits_of(operand), codes.reshape(len(codes), -1)
        part = np.full((*whole.shape, digits + 1), ord(" "), np.uint8)
        for place in range(digits):
            nibble = whole >> whole.dtype.type(4 * (digits - 1 - place)) & whole.dtype.type(15)
            part[..., place] = DIGITS[nibble]
        parts.append(part.reshape(len(codes), -1))
    text = np.concatenate(parts, axis=1)
    text[:, -1] = ord("\n")
    return text.tobytes()


class MalformedAnswer(ValueError):
    """An answer that is not a code of d.

    Attributes:
        before: the answers that came before it.
    """

    def __init__(self, message: str, before: BitArray) -> None:
        super().__init__(message)
        self.before = before


@dataclass(frozen=True)
class RowForm:
    """One of the two forms of rows and answers.

    Attributes:
        name: "text" or "binary".
    """

    name: str

    def question(self, columns: Sequence[Column]) -> bytes:
        """Encode rows, given as the columns of their operands, as the bytes of a question."""
        if self.name == "text":
            return lines_of(columns)
        parts = [_bytes(codes.reshape(len(codes), -1), operand) for codes, operand in columns]
        return np.concatenate(parts, axis=1).tobytes()

    def size(self, rows: int, d: Format) -> int:
        """The size of the answers to a number of rows: lines in the text form, bytes in the binary form, as `count` measures
        it."""
        return rows if self.name == "text" else rows * bits_dtype(d).itemsize

    def count(self, piece: bytes) -> int:
        """The size of a piece of an answer: ends of lines in the text form, bytes in the binary form."""
        return piece.count(b"\n") if self.name == "text" else len(piece)

    def beyond(self, data: bytes, rows: int, d: Format) -> bytes:
        """Return the output that follows the answers to a number of rows."""
        if self.name == "text":
            return data.split(b"\n", rows)[-1]
        return data[self.size(rows, d) :]

    def answers(self, data: bytes, d: Format, ended: bool) -> tuple[BitArray, bytes]:
        """Split output into the codes of the complete answers and the remaining bytes, the beginning of another answer.

        Args:
            ended: whether no more output follows, so that the last line is complete without a line end.

        Raises:
            MalformedAnswer: an answer is not a code of d.
        """
        if self.name == "text":
            return _read_lines(data + b"\n" if ended and data and not data.endswith(b"\n") else data, d)
        dtype = bits_dtype(d).newbyteorder("<")
        whole = len(data) // dtype.itemsize * dtype.itemsize
        codes = np.frombuffer(data[:whole], dtype).astype(bits_dtype(d))
        beyond = codes >= d.codes if d.width < d.storage_bits else np.zeros(len(codes), bool)
        if beyond.any():
            first = int(np.argmax(beyond))
            raise MalformedAnswer(
                f"must answer with codes of {d}, which have {d.width} bits; got {int(codes[first]):#x}", codes[:first]
            )
        return codes, data[whole:]


TEXT, BINARY = RowForm("text"), RowForm("binary")

FORMS = {form.name: form for form in (TEXT, BINARY)}


def _bytes(codes: BitArray, operand: Format) -> BitArray:
    little = np.ascontiguousarray(codes, bits_dtype(operand).newbyteorder("<"))
    return little.view(np.uint8).reshape(len(codes), -1)


def _read_lines(data: bytes, d: Format) -> tuple[BitArray, bytes]:
    *lines, rest = data.split(b"\n")
    codes: list[int] = []
    limit = 1 << d.width
    for line in lines:
        word = line.strip()
        code = int(word, 16) if word.isalnum() and len(word) <= digits_of(d) and _is_hexadecimal(word) else limit
        if code >= limit:
            shown = line[:SHOWN].decode(errors="replace") + ("…" if len(line) > SHOWN else "")
            rule = f"must answer each row with a line of one code of {d}, {digits_of(d)} hexadecimal digits"
            raise MalformedAnswer(f"{rule}; got {shown!r}", np.array(codes, bits_dtype(d)))
        codes.append(code)
    return np.array(codes, bits_dtype(d)), rest


def _is_hexadecimal(word: bytes) -> bool:
    return not word.strip(b"0123456789abcdefABCDEF")
