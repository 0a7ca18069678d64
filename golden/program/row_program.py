"""A program that answers rows: it is started at the first question, its answers are checked, and it is started again if it
has ended."""

import hashlib
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype
from golden.cache import content_key
from golden.processes.child import ending
from golden.processes.conversation import FAREWELL, Conversation, Ending, Reply
from golden.stimulus import Operands, OperandShape

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


PATIENCE = 60.0
"""Default time for which a program may be silent (seconds)."""

MOST_PATIENCE = 10**7
"""Upper limit of the time for which a program may be silent (seconds): a third of a year."""

QUESTION = 1 << 16
"""Largest number of rows in one question."""

HELD_BACK = 4
"""After 1/HELD_BACK of the patience without output, the program's input is closed: it may be buffering answers until end of
input."""


class ProgramError(ValueError):
    """An error of a program, described in one message.

    Attributes:
        answers: the answers to the first rows of the question, those that came before the error.
    """

    def __init__(self, message: str, answers: BitArray) -> None:
        super().__init__(message)
        self.answers = answers


class RowProgram:
    """A program that computes dot products.

    Args:
        command: program and arguments in one text, split as a shell does; no shell runs it.
        shape: formats and lengths of the operands.
        form: form of rows and answers.
        patience: time for which the program may be silent (seconds).
        say: called with a line when the program has to be used in another way than before.

    Raises:
        ValueError: an empty command, or no such program.
    """

    def __init__(
        self, command: str, shape: OperandShape, form: RowForm = TEXT, patience: float = PATIENCE,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:  # fmt: skip
        if not 0 < patience <= MOST_PATIENCE:  # NaN is not either
            most = f"above 0 and at most {MOST_PATIENCE}"
            raise ValueError(f"the patience with a program must be a number of seconds {most}, got {patience}")
        self.command, self.shape, self.form, self.patience = command, shape, form, patience
        self.name = f"program {command}"
        self._command, self._say = split(command), say
        self._conversation: Conversation | None = None
        self._answers_at_end = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._end()

    @property
    def identity(self) -> str:
        """A digest of the command, of the files that it names and of the formats."""
        return content_key({"parts": [self.command, self.header(), digest_of(self.command)]})

    def header(self) -> str:
        """The header line that the program receives first: formats, K, block size and form."""
        s = self.shape
        words = [f"{key}={getattr(s, key)}" for key in ("a", "b", "c", "d", "K")]
        if s.scale is not None:
            words += [f"scale={s.scale}", f"K_block={s.block_size}"]
        return f"# {' '.join(words)} form={self.form.name}"

    def dot(self, rows: Operands) -> BitArray:
        """Compute d [rows], bit patterns, by asking the program.

        Raises:
            ProgramError: the program ended early, was silent, gave too many or too few answers, wrote unasked, or wrote
                something that is not a code of d.
        """
        parts: list[BitArray] = [np.empty(0, bits_dtype(self.shape.d))]
        for start in range(0, len(rows.c), QUESTION):
            try:
                parts.append(self._asked(rows.rows(slice(start, start + QUESTION))))
            except ProgramError as error:
                raise ProgramError(str(error), np.concatenate([*parts, error.answers])) from None
        return np.concatenate(parts)

    def _asked(self, rows: Operands) -> BitArray:
        """The answers to one question."""
        count, question = len(rows.c), self.form.question(self._columns(rows))
        if self._conversation is None:
            self._conversation = self._started()
            question = f"{self.header()}\n".encode() + question
        elif unasked := self._conversation.unasked():
            raise self._error(f"must answer what it is asked, and wrote unasked {_shown(unasked)}")
        reply = self._replied(self._conversation, question, count)
        d, rest = self._parsed(reply)
        if len(d) > count or (rest and len(d) == count):
            more = self.form.beyond(reply.data, count, self.shape.d)
            raise self._error(f"must write one code for each of {count:,} rows, and wrote more: {_shown(more)}")
        if len(d) < count:
            skipped = reply.why == ending("it", 0)  # it read all rows: nobody knows which of them it did not answer
            part = " and a part of one" if rest else ""
            raise self._error(f"answered {len(d):,} of {count:,} rows{part}, then {reply.why}", None if skipped else d)
        if reply.ending is Ending.ENDED:
            self._end()
        return d

    def close(self) -> None:
        """End the program's input, then the program.

        Raises:
            ProgramError: it wrote more than it was asked for.
        """
        if self._conversation is not None:
            reply = self._conversation.ask(b"", self.form.count, 1, FAREWELL, last=True)
            if reply.data:
                raise self._error(f"must answer what it is asked, and wrote at the end {_shown(reply.data)}")
            self._end()

    def _started(self) -> Conversation:
        try:
            return Conversation(self._command)
        except OSError as error:
            raise ValueError(f"the program {self.command!r} cannot be started: {error.strerror}") from error

    def _columns(self, rows: Operands) -> list[Column]:
        s = self.shape
        columns = [(rows.a, s.a), (rows.b, s.b)]
        if s.scale is not None and rows.scale_a is not None and rows.scale_b is not None:
            columns += [(rows.scale_a, s.scale), (rows.scale_b, s.scale)]
        return [*columns, (rows.c, s.c)]

    def _replied(self, conversation: Conversation, question: bytes, count: int) -> Reply:
        """Ask one question and return the reply.

        If the program is silent for a part of its patience, its input is closed. If it answers then, it had held its answers
        back; from then on it is started again for each question.
        """
        form, wanted = self.form, self.form.size(count, self.shape.d)
        if self._answers_at_end:
            return conversation.ask(question, form.count, wanted + 1, self.patience, last=True)
        reply = conversation.ask(question, form.count, wanted, self.patience / HELD_BACK)
        if reply.ending is not Ending.SILENT:
            return reply
        left = wanted + 1 - form.count(reply.data)
        late = conversation.ask(b"", form.count, left, self.patience, last=True)
        if late.data and late.ending is Ending.ENDED:
            self._answers_at_end = True
            self._say(
                f"the program {self.command!r} answers when its input ends, and is started anew for each question; "
                "it would be faster if it flushed each answer"
            )
        return late._replace(data=reply.data + late.data)

    def _parsed(self, reply: Reply) -> tuple[BitArray, bytes]:
        """The complete answers of a reply, and the bytes that remain. If the program ended well, its last line needs no line
        end."""
        try:
            return self.form.answers(reply.data, self.shape.d, ended=reply.why == ending("it", 0))
        except MalformedAnswer as error:
            raise self._error(str(error), error.before) from None

    def _error(self, what: str, answers: BitArray | None = None) -> ProgramError:
        """Make the error of a program, and end the program: it would otherwise answer the next question with what is left of
        this one."""
        last = self._end()
        message = f"the program {self.command!r} {what}" + (f"; its last message: {last}" if last else "")
        return ProgramError(message, np.empty(0, bits_dtype(self.shape.d)) if answers is None else answers)

    def _end(self) -> str:
        """End the program if it runs; return the last line that it wrote to standard error."""
        conversation, self._conversation = self._conversation, None
        return "" if conversation is None else conversation.end()


def digest_of(command: str) -> str:
    """SHA-256 of a command's words, and of the files that they name.

    Raises:
        ValueError: as `RowProgram`.
    """
    total = hashlib.sha256(command.encode())
    for path in files_of(command):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def files_of(command: str) -> list[Path]:
    """The files that a command's words name, the program first.

    Raises:
        ValueError: as `RowProgram`.
    """
    return [path for path in (Path(shutil.which(word) or word) for word in split(command)) if path.is_file()]


def split(command: str) -> list[str]:
    """Split a command into words as a shell does.

    Raises:
        ValueError: no word, an open quote, or no such program.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"--program must be a command as a shell reads it, got {command!r}: {error}") from error
    if not words:
        raise ValueError("--program must be a command, got an empty text")
    if shutil.which(words[0]) is None:
        raise ValueError(f"--program must begin with a program that can be run; {words[0]!r} is none")
    return words


def _shown(data: bytes) -> str:
    return repr(data[:SHOWN].decode(errors="replace")) + ("…" if len(data) > SHOWN else "")
