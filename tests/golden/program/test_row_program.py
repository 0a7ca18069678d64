"""Programs as devices: what they get, what is taken as an answer, and every way in which one may misbehave."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import BF16, E2M1, FP16, FP32, INT8, INT32, UE8M0
from golden.comparison import is_nan
from golden.program import BINARY, TEXT, ProgramError, RowForm, RowProgram
from golden.stimulus import Operands, OperandShape, generate, volume
from tests.golden.program import programs
from tests.golden.program.programs import AFTER

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
SCALED = OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=8, scale=UE8M0, block_size=4)
ROWS = generate(SHAPE, programs.ROWS, 3).operands
ONE_CODE = "must answer each row with a line of one code of fp32, 8 hexadecimal digits; got"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "program"


def command(kind: str) -> str:
    return f"env -u PYTHONUNBUFFERED {sys.executable} -m tests.golden.program.programs '{kind}'"


def program(kind: str, patience: float = 60.0) -> RowProgram:
    return RowProgram(command(kind), SHAPE, patience=patience)


def asked(device: RowProgram, rows: Operands = ROWS) -> np.ndarray:
    return device.dot(rows)


def read_as_documented(line: str) -> tuple[list[int], list[int]]:
    """a and c of a row of SHAPE."""
    codes = [int(word, 16) for word in line.split(" ")]
    return codes[:4], codes[8:]


def test_program_gets_a_header_and_the_lines_of_the_vectors(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    with RowProgram(
        f"sh -c 'tee {seen} | while read line; do case $line in (\"#\"*) ;; (*) echo 0;; esac; done'", SHAPE
    ) as device:
        assert not asked(device).any()
    header, *lines = seen.read_text().splitlines()
    assert header == "# a=fp16 b=fp16 c=fp32 d=fp32 K=4 form=text"
    assert [read_as_documented(line) for line in lines] == [
        (a, [c]) for a, c in zip(ROWS.a.tolist(), ROWS.c.tolist(), strict=True)
    ]
    assert all(len(line) == 8 * 5 + 8 for line in lines)  # with leading zeros


def test_header_of_a_scaled_program_says_scale_and_block() -> None:
    header = RowProgram("cat", SCALED, BINARY).header()
    assert header == "# a=e2m1 b=e2m1 c=fp32 d=fp32 K=8 scale=ue8m0 K_block=4 form=binary"


@pytest.mark.parametrize("form", [TEXT, BINARY], ids=lambda form: form.name)
def test_rows_of_every_column_are_packed_in_order(form: RowForm) -> None:
    operands = generate(SCALED, 50, 1).operands
    columns = [
        (operands.a, E2M1),
        (operands.b, E2M1),
        (operands.scale_a, UE8M0),
        (operands.scale_b, UE8M0),
        (operands.c, FP32),
    ]
    data = form.question(columns)  # type: ignore[arg-type]
    for row in range(50):
        codes = [int(x) for array, _ in columns for x in np.atleast_1d(array[row])]  # type: ignore[index]
        if form is TEXT:
            assert [int(word, 16) for word in data.split(b"\n")[row].split(b" ")] == codes
        else:
            packed = data[row * 24 : row * 24 + 24]
            assert [*packed[:20], int.from_bytes(packed[20:], "little")] == codes


def test_honest_program_answers_every_question() -> None:
    with program("honest") as device:
        for rows in (ROWS, ROWS.rows(slice(0, 1)), ROWS):
            assert np.array_equal(asked(device, rows), rows.c)


@pytest.mark.slow
@pytest.mark.attack("programs that answer rows")
@pytest.mark.parametrize(
    ("kind", "message", "answered"),
    [
        ("dies", f"answered {AFTER} of 100 rows, then it exited with status 3; its last message: the cable is out", AFTER),
        ("is killed", f"answered {AFTER} of 100 rows, then it was ended by SIGKILL; is there too little memory?", AFTER),
        ("hangs", f"answered {AFTER} of 100 rows, then it was silent for 0.8 s", AFTER),
        ("hangs in an answer", f"answered {AFTER} of 100 rows and a part of one, then it was silent for 0.8 s", AFTER),
        ("dies in an answer", f"answered {AFTER} of 100 rows and a part of one, then it exited with status 3", AFTER),
        ("dies in its last answer", "answered 99 of 100 rows and a part of one, then it exited with status 3", 99),
        ("answers too little", "answered 99 of 100 rows, then it exited with status 0", 0),
        ("answers too much", "must write one code for each of 100 rows, and wrote more: '{}\\n'", 0),
        ("answers words", f"{ONE_CODE} 'ready'", AFTER),
        ("answers a wide code", f"{ONE_CODE} '1{{}}'", AFTER),
        ("answers two codes", f"{ONE_CODE} '{{}} {{}}'", AFTER),
        ("echoes", f"{ONE_CODE} '# a=fp16 b=fp16 c=fp32 d=fp32 K=4 form=text'", 0),
        ("answers before it is asked", "must write one code for each of 100 rows, and wrote more: '{last}\\n'", 0),
    ],
)  # fmt: skip
def test_program_that_misbehaves_is_one_message(kind: str, message: str, answered: int) -> None:
    """And what it had answered until then is kept; a program that is asked again is started anew."""
    device = program(kind, patience=0.8 if kind.startswith("hangs") or kind == "answers too little" else 60.0)
    codes = f"{int(ROWS.c[AFTER]):08x}", f"{int(ROWS.c[AFTER]):08x}"
    text = message.format(*codes, last=f"{int(ROWS.c[99]):08x}") if kind != "answers too much" else message.format(
        f"{int(ROWS.c[99]):08x}"
    )  # fmt: skip
    for _ in range(2):
        with pytest.raises(ProgramError) as error:
            asked(device)
        assert str(error.value) == f"the program {command(kind)!r} {text}"
        assert np.array_equal(error.value.answers, ROWS.c[:answered])


@pytest.mark.attack("programs that answer rows")
def test_answer_after_the_last_question_is_seen() -> None:
    with pytest.raises(ProgramError, match="must answer what it is asked, and wrote at the end '00000000"), program(
        "speaks at the end"
    ) as device:  # fmt: skip
        asked(device)


@pytest.mark.slow
@pytest.mark.attack("programs that answer rows")
def test_standard_error_without_end_blocks_nothing() -> None:
    with program("babbles") as device:
        assert np.array_equal(asked(device), ROWS.c)
    endless = "sh -c 'while :; do echo over and over >&2; done'"
    with pytest.raises(ProgramError) as error:
        asked(RowProgram(endless, SHAPE, patience=0.5))
    assert str(error.value).startswith(
        f"the program {endless!r} answered 0 of 100 rows, then it was silent for 0.5 s; its last"
    )


@pytest.mark.slow
def test_program_that_buffers_is_started_anew_for_each_question() -> None:
    """Its answers come when its input ends."""
    said: list[str] = []
    device = RowProgram(command("buffers"), SHAPE, patience=8.0, say=said.append)
    with device:
        for _ in range(3):
            assert np.array_equal(asked(device), ROWS.c)
    assert said == [
        f"the program {command('buffers')!r} answers when its input ends, and is started anew for each question; "
        "it would be faster if it flushed each answer"
    ]


@pytest.mark.attack("programs that answer rows")
def test_binary_answers_that_are_too_many_or_no_codes_are_seen() -> None:
    with pytest.raises(ProgramError, match="must write one code for each of 100 rows, and wrote more"):
        asked(RowProgram("cat", SHAPE, BINARY))
    integers = OperandShape(a=INT8, b=INT8, c=INT32, d=E2M1, K=1)
    rows = generate(OperandShape(a=INT8, b=INT8, c=INT32, d=INT32, K=1), 4, 0).operands
    wide = RowProgram("sh -c 'head -n 1 >/dev/null; printf \"\\001\\002\\377\\001\"; cat >/dev/null'", integers, BINARY)
    with pytest.raises(ProgramError, match="must answer with codes of e2m1, which have 4 bits; got 0xff") as error:
        asked(wide, rows)
    assert error.value.answers.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "patience", "message"),
    [
        ("", 1.0, "--program must be a command, got an empty text"),
        ("no-such-program -x", 1.0, "--program must begin with a program that can be run; 'no-such-program' is none"),
        ("cat 'x", 1.0, '--program must be a command as a shell reads it, got "cat \'x": No closing quotation'),
        *(
            (
                "cat",
                patience,
                f"the patience with a program must be a number of seconds above 0 and at most 10000000, got {patience}",
            )
            for patience in (float("nan"), 0.0, -1.0, float("inf"), 10000001.0)
        ),
    ],
)
def test_program_that_cannot_be_asked_is_refused(text: str, patience: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        RowProgram(text, SHAPE, patience=patience)


def test_identity_follows_the_bytes_of_the_program(tmp_path: Path) -> None:
    script = tmp_path / "p.sh"
    script.write_text("echo 1")
    before = RowProgram(f"sh {script}", SHAPE).identity
    assert RowProgram(f"sh {script}", SHAPE).identity == before
    script.write_text("echo 2")
    assert RowProgram(f"sh {script}", SHAPE).identity != before


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in C."""
    path = tmp_path_factory.mktemp("program") / "fma_bf16"
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    options = ["-O2", "-Wall", "-Wextra", "-Werror", str(EXAMPLES / "fma_bf16.c"), "-lm", "-o", str(path)]
    subprocess.run([compiler, *options], check=True, timeout=300)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("form", [TEXT, BINARY], ids=lambda form: form.name)
def test_example_in_c_is_the_fma_of_the_models(form: RowForm, compiled: Path) -> None:
    shape = OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=4)
    rows = volume.rows(shape, 0, 0, 20_000).operands
    unit = golden.Unit(name="fma", operation=golden.OPERATIONS["FMA"](a="bf16", b="bf16", c="fp32"))  # type: ignore[arg-type]
    expected = unit.dot(rows.a, rows.b, rows.c)
    numbers = ~is_nan(expected, FP32)
    with RowProgram(str(compiled), shape, form) as device:
        assert np.array_equal(asked(device, rows)[numbers], expected[numbers])
