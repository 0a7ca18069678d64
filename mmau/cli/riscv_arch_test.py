"""Tests for riscv-arch-test, in assembler with the macros of that project's framework: rows of the stimulus with the results
that they must give, of the instructions of Zvbdota, and of units under Zvvfmm.

The words of Zvvfmm's instructions are those of LLVM's assembler (`experimental-zvvfmm`), whose source is release fa55752 of
riscv/integrated-matrix-extension.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from golden.arithmetic.formats import Format
from golden.arrays import BitArray
from golden.comparison import is_nan
from golden.stimulus import Operands, Stimulus
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.analysis.disclosure import FRM, reduction_of

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


MATRIX = {1: ("vfmmacc.vv", 0x14), 2: ("vfwmmacc.vv", 0x15), 4: ("vfqmmacc.vv", 0x16), 8: ("vf8wmmacc.vv", 0x17)}
"""Of each widening W the instruction and its funct6."""

TOKENS = {"e2m1": "ofp4", "e4m3": "ofp8", "e5m2": "ofp8"}
"""The names of formats in those of extensions, where they differ."""

ALTERNATIVES = ("e5m2", "bf16")
"""The formats that altfmt, altfmt_A and altfmt_B select."""

MATRIX_VD, MATRIX_VS1, MATRIX_VS2 = 16, 8, 9
"""Vector registers: up to 16 for C, and one each for A and B."""

LEAST_VLEN, MOST_VLEN = 128, 65536


@dataclass(frozen=True)
class Tile:
    """The instruction of a unit under a lambda, with LMUL = 1, and the smallest machine that has it.

    Attributes:
        unit: the unit. size: lambda.
    """

    unit: Unit
    size: int

    @classmethod
    def of(cls, unit: Unit, lambdas: Sequence[int]) -> "Tile":
        """The tile of a unit under the least lambda that holds a group of it.

        Raises:
            ValueError: no machine has such a tile.
        """
        o = unit.operation
        if o.scale_format is not None:
            raise ValueError(f"{unit.name}: --riscv-arch-test is of units without scales, got scale = {o.scale_format}")
        found = cls(unit, min(size for size in lambdas if size * o.c.width >= reduction_of(unit).products * o.a.width))
        if found.vlen > MOST_VLEN:
            raise ValueError(
                f"{unit.name}: VLEN must be at most {MOST_VLEN} bits, and lambda = {found.size} takes {found.vlen}"
            )
        return found

    @property
    def sew(self) -> int:
        """SEW (bits)."""
        return self.unit.operation.c.width

    @property
    def W(self) -> int:
        """Elements of A in SEW bits."""
        return self.sew // self.unit.operation.a.width

    @property
    def K(self) -> int:
        """Products of an element of C."""
        return self.size * self.W

    @property
    def emul(self) -> int:
        """Registers of C."""
        return max(1, LEAST_VLEN // (self.sew * self.size**2))

    @property
    def vlen(self) -> int:
        """VLEN (bits)."""
        return self.sew * self.size**2 * self.emul

    @property
    def M(self) -> int:
        """Rows of A, and of B."""
        return self.size * self.emul

    @property
    def extensions(self) -> list[str]:
        """The extensions that have the instruction: two where a and b are of two 16-bit formats."""
        o = self.unit.operation
        c = TOKENS.get(o.c.name, o.c.name)
        tokens = dict.fromkeys(TOKENS.get(each.name, each.name) for each in (o.a, o.b))
        return [f"Zvv{token}{c if c != token else ''}mm" for token in tokens]

    @property
    def vtype(self) -> str:
        """Its value as an expression of the assembler; the fields of matrices lie at the top of XLEN bits."""
        o = self.unit.operation
        alt_a, alt_b, alt_c = (each.name in ALTERNATIVES for each in (o.a, o.b, o.c))
        top = self.size.bit_length() << 3 | alt_a << 1 | alt_b
        low = alt_c << 8 | 0xC0 | (self.sew // 16).bit_length() << 3  # tail and mask agnostic, SEW; LMUL is 1
        return f"({top:#x} << (__riscv_xlen - 7)) | {low:#x}"

    @property
    def word(self) -> int:
        """The instruction's word, unscaled (vm = 1)."""
        funct6 = MATRIX[self.W][1]
        return funct6 << 26 | 1 << 25 | MATRIX_VS2 << 20 | MATRIX_VS1 << 15 | 1 << 12 | MATRIX_VD << 7 | 0x57


def matrix_test(tile: Tile, header: Sequence[str], rows: Operands, d: BitArray, flags: BitArray | None) -> bytes:
    """A test of the instruction of a tile. All rows of A are alike, and so are those of B, so that each
    element of C is the same dot product; element after element is looked at.

    Args:
        tile: of a unit in the rounding mode that `frm` is set to. header: lines about the vectors.
        rows, d: the operands of an element of C a row, and its result.
        flags: the exception flags of each row; None where they are not known. Those of a row with a NaN and an infinity are
            left out (docs/guides/riscv-matrix.md).
    """
    o = tile.unit.operation
    name, code, data, texts, signatures = MATRIX[tile.W][0], list[str](), list[str](), list[str](), 0
    size, load = tile.sew // 8, {8: "lbu", 16: "lhu", 32: "lw", 64: "ld"}[tile.sew]
    for row, result in enumerate(d.tolist()):
        a, b, c = rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row])
        element = row % (tile.M * tile.M)
        code += [f"row_{row}:", f"  MMAU_ROW {element * size}"]
        code.append(f"  RVTEST_SIGUPD(x2, x5, x4, x13, row_{row}, row_{row}_str)  // d = {_hex(result, o.d)}")
        texts.append(f'row_{row}_str: .string "row {row}: {name}: element {element} must be {_hex(result, o.d)}"')
        signatures += 1
        if flags is not None and not _meets_early(o.a, o.b, o.c, rows, row):
            code.append(f"  RVTEST_SIGUPD(x2, x5, x4, x14, row_{row}, flags_{row}_str)  // fflags = {int(flags[row]):#04x}")
            texts.append(f'flags_{row}_str: .string "row {row}: {name}: fflags must be {int(flags[row]):#04x}"')
            signatures += 1
        for codes, operand in ((a, o.a), (b, o.b)):
            data += [f"  .rept {tile.M}", f"  .byte {', '.join(map(hex, _packed(codes, operand)))}", "  .endr"]
        data += [f"  .byte {', '.join(map(hex, _packed([c], o.c)))}"]
    lines = [f"// {line.lstrip('# ')}".rstrip() for line in header]
    lines += [*_begin_matrix(tile, signatures, load), *code, "", "RVTEST_CODE_END", "RVTEST_DATA_BEGIN", ""]
    lines += ["  .balign 8", "mmau_result:", f"  .zero {tile.emul * tile.vlen // 8}", "mmau_rows:", *data, "", *texts]
    return _lines([*lines, "", "RVTEST_DATA_END", "RVTEST_SIG_SETUP"])


def _begin_matrix(tile: Tile, signatures: int, load: str) -> list[str]:
    """All before the first row."""
    size, name = tile.sew // 8, MATRIX[tile.W][0]
    mode = [*FRM].index(reduction_of(tile.unit).mode)
    groups = [MATRIX_VD + 8 * n for n in range(-(-tile.emul // 8))]  # a load or store has at most 8 registers
    whole = f"vsetvli x9, x0, e{tile.sew}, m{min(tile.emul, 8)}, ta, ma"
    stores = [f"  vse{tile.sew}.v v{register}, (x15)" for register in groups]
    return [
        "",
        "##### START_TEST_CONFIG #####",
        f"# REQUIRED_EXTENSIONS: ['I', 'V', {', '.join(map(repr, tile.extensions))}]",
        "# params:",
        f"#   VLEN: {tile.vlen}",
        f"# MARCH: rv{64 if tile.sew == 64 else '${XLEN}'}gcv",
        "##### END_TEST_CONFIG #####",
        "",
        f"#define SIGUPD_COUNT {signatures}",
        '#include "riscv_arch_test.h"',
        "RVTEST_BEGIN",
        "",
        f"// A and B of {tile.M} x {tile.K} elements (lambda = {tile.size}, LMUL = 1), and C, of the next row;",
        "// the element of C at an offset (bytes) in x13, fflags in x14",
        ".macro MMAU_ROW offset",
        "  vsetvli x9, x0, e8, m1, ta, ma",
        f"  vle8.v v{MATRIX_VS1}, (x8)",
        "  add x8, x8, x9",
        f"  vle8.v v{MATRIX_VS2}, (x8)",
        "  add x8, x8, x9",
        f"  {whole}",
        *(f"  vlse{tile.sew}.v v{register}, (x8), x0" for register in groups),
        f"  addi x8, x8, {size}",
        "  vsetvl x9, x0, x10",
        "  csrwi fflags, 0",
        f"  .word {tile.word:#010x}  // {name} v{MATRIX_VD}, v{MATRIX_VS1}, v{MATRIX_VS2}",
        "  csrr x14, fflags",
        f"  {whole}",
        "  mv x15, x12",
        *stores[:1],
        *([f"  li x9, {tile.vlen}", "  add x15, x15, x9", *stores[1:]] if stores[1:] else []),
        "  li x9, \\offset",
        "  add x15, x12, x9",
        f"  {load} x13, 0(x15)",
        ".endm",
        "",
        "  LA(x8, mmau_rows)",
        f"  li x10, {tile.vtype}",
        "  LA(x12, mmau_result)",
        f"  csrwi frm, {mode}",
        "",
    ]


def _meets_early(a: Format, b: Format, c: Format, rows: Operands, row: int) -> bool:
    """Whether infinities may meet beside a NaN, where the draft raises NV if they meet first."""
    columns = [(form, codes[row]) for form, codes in ((a, rows.a), (b, rows.b), (c, rows.c))]
    has_nan = any(is_nan(codes, form).any() for form, codes in columns)
    return bool(has_nan and any(_infinite(codes, form).any() for form, codes in columns))


def _infinite(codes: Any, form: Format) -> Any:
    integer = codes.dtype.type
    return codes != codes if form.infinity is None else codes & integer(form.magnitude_mask) == integer(form.infinity)


def _packed(codes: Sequence[int], operand: Format) -> bytes:
    """The bytes of elements as they lie in a register."""
    whole = sum(code << k * operand.width for k, code in enumerate(codes))
    return whole.to_bytes(len(codes) * operand.width // 8, "little")
