"""A program that answers rows: it is started at the first question, its answers are checked, and it is started again if it
has ended."""

import hashlib
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.cache import content_key
from golden.processes.child import ending
from golden.processes.conversation import FAREWELL, Conversation, Ending, Reply
from golden.program.row_forms import SHOWN, TEXT, Column, MalformedAnswer, RowForm
from golden.stimulus import Operands, OperandShape

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
