"""`mmau vectors --format riscv-arch-test`: vectors of RISC-V's batched dot products as a test for riscv-arch-test.

The test is assembler with the macros of that project's `riscv_arch_test.h`. Each row is one instruction: a is vs1, b is
every register of vs2, c is every element of vd, and one of the eight results, another from row to row, is written to the
signature. The text that the framework prints where a result differs contains the d that this project computes. The
instruction is written as its encoding, since few assemblers know the draft.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from golden.arrays import BitArray
from golden.formats import Format
from golden.instruction import Instruction
from golden.stimulus import Stimulus

ARCH = "riscv-zvbdota"

RESULTS = 8
"""Dot products of one instruction, the vector of vs1 with each register of vs2."""

VD, VS1, VS2 = 8, 12, 16
"""Vector registers: 2 for vd at the smallest VLEN, 8 for vs2."""


class Encoding(NamedTuple):
    """The instruction's word without registers, not masked and with ci = 0, and the extension that has it."""

    word: int
    extension: str


ENCODINGS = {
    "vfwbdota.vv": Encoding(0xB200_1077, "Zvfwbdota16bf"),
    "vfqwbdota.vv": Encoding(0xBA00_1077, "Zvfqwbdota8f"),
    "vfqwbdota.alt.vv": Encoding(0xBE00_1077, "Zvfqwbdota8f"),
    "vqwbdotau.vv": Encoding(0xBA00_0077, "Zvqwbdota8i"),
    "vqwbdotas.vv": Encoding(0xBE00_0077, "Zvqwbdota8i"),
}

ALTERNATIVE = ("bf16", "e5m2", "int8")
"""Formats of vs1 that vtype.altfmt selects; without it vs1 holds e4m3 or uint8."""


def check_arch(instruction: object) -> Instruction:
    """Check that riscv-arch-test can run a test of this instruction, and return it.

    Raises:
        ValueError: it is a unit, or of another architecture.
    """
    if not isinstance(instruction, Instruction) or instruction.arch != ARCH:
        got = f"{instruction.arch} {instruction.name}" if isinstance(instruction, Instruction) else "a unit"
        raise ValueError(f"--format riscv-arch-test is for the instructions of {ARCH}, got {got}")
    return instruction


def test_of(
    i: Instruction, header: Sequence[str], count: int, parts: Iterator[tuple[Stimulus, BitArray]]
) -> Iterator[bytes]:
    """The bytes of the test, in chunks.

    Args:
        header: lines about the vectors. count: number of rows. parts: blocks of rows, each with the d of its rows.
    """
    yield _lines([*(f"// {line.lstrip('# ')}".rstrip() for line in header), *_begin(i, count)])
    data, texts = [], []
    row = 0
    for stimulus, d in parts:
        rows = zip(
            *(codes.tolist() for codes in (stimulus.operands.a, stimulus.operands.b, stimulus.operands.c, d)), strict=True
        )
        code = []
        for a, b, c, result in rows:
            code += [f"row_{row}:", f"  MMAU_ROW {row % RESULTS}"]
            code.append(f"  RVTEST_SIGUPD(x2, x5, x4, x13, row_{row}, row_{row}_str)  // d = {_hex(result, i.d)}")
            data += [_data(a, i.a), _data(b, i.b), f"  .word {_hex(c, i.c)}"]
            texts.append(f'row_{row}_str: .string "row {row}: {i.name}: result {row % RESULTS} must be {_hex(result, i.d)}"')
            row += 1
        yield _lines(code)
    yield _lines(["", "RVTEST_CODE_END", "RVTEST_DATA_BEGIN", "", "  .balign 4", "mmau_rows:", *data, "", *texts])
    yield _lines(["", "RVTEST_DATA_END", "RVTEST_SIG_SETUP"])


def _begin(i: Instruction, count: int) -> list[str]:
    """All before the first row: what the test needs, and the macro of a row."""
    encoding, width = _encoding(i), i.a.storage_bits
    size, vlen = i.k * width // 8, i.k * width
    vtype = (i.a.name in ALTERNATIVE) << 8 | 0xC0 | (width // 16) << 3  # altfmt, tail and mask agnostic, SEW; LMUL is 1
    word = encoding.word | VS2 << 20 | VS1 << 15 | VD << 7
    return [
        "",
        "##### START_TEST_CONFIG #####",
        f"# REQUIRED_EXTENSIONS: ['I', 'V', '{encoding.extension}']",
        "# params:",
        f"#   VLEN: {vlen}",
        "# MARCH: rv${XLEN}gcv",
        "##### END_TEST_CONFIG #####",
        "",
        f"#define SIGUPD_COUNT {count}",
        '#include "riscv_arch_test.h"',
        "RVTEST_BEGIN",
        "",
        "// a, b and c of the next row, and one of the eight results in x13",
        ".macro MMAU_ROW result",
        f"  vsetvl x0, x9, x10  // {i.k} elements of {width} bits",
        f"  vle{width}.v v{VS1}, (x8)",
        f"  addi x8, x8, {size}",
        f"  vle{width}.v v{VS2}, (x8)",
        f"  addi x8, x8, {size}",
        *(f"  vmv1r.v v{VS2 + n}, v{VS2}" for n in range(1, RESULTS)),
        "  lw x11, 0(x8)",
        "  addi x8, x8, 4",
        f"  vsetivli x0, {RESULTS}, e32, m2, ta, ma",
        f"  vmv.v.x v{VD}, x11",
        "  vsetvl x0, x9, x10",
        f"  .word {word:#010x}  // {_mnemonic(i)} v{VD}, v{VS2}, v{VS1}, 0",
        f"  vsetivli x0, {RESULTS}, e32, m2, ta, ma",
        f"  vse32.v v{VD}, (x12)",
        "  lw x13, 4*\\result(x12)",
        ".endm",
        "",
        "  LA(x8, mmau_rows)",
        f"  li x9, {i.k}",
        f"  li x10, {vtype:#x}",
        "  LA(x12, scratch)",
        "",
    ]


def _mnemonic(i: Instruction) -> str:
    """The instruction's name without format and K."""
    return i.name[: i.name.index(".vv") + len(".vv")]


def _encoding(i: Instruction) -> Encoding:
    return ENCODINGS[_mnemonic(i)]


def _data(codes: Sequence[int], operand: Format) -> str:
    directive = ".half" if operand.storage_bits == 16 else ".byte"
    return f"  {directive} {', '.join(_hex(code, operand) for code in codes)}"


def _hex(code: int, operand: Format) -> str:
    return f"{code:#0{2 + operand.width // 4}x}"


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
