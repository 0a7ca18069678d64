"""`v_mfma`: one HIP template for every shape and type, and the layout of each: which element of A, B, C or D each lane of a
wavefront holds in which place. A wavefront computes the blocks of one instruction at a time.

The layouts are written down here and nowhere else. The kernels index memory by the tables made here, of shape [64 lanes,
elements], with offsets into the blocks that one instruction computes at once: A as [blocks, m, k], B as [blocks, n, k], C
and D as [blocks, m, n]. Sources: AMD CDNA3 ISA, section 7.1; the layouts that AMD's matrix instruction calculator prints.
"""

import re
from dataclasses import dataclass
from string import Template

import numpy as np
import numpy.typing as npt

from golden import Instruction
from golden.arithmetic.formats import BF16, FP64

LANES = 64

Table = npt.NDArray[np.int64]
"""A layout: offsets [64 lanes, elements]."""

PER_LANE: dict[str, int] = {"fp32": 1, "fp64": 1, "tf32": 2, "fp16": 4, "bf16": 4, "e4m3fnuz": 8, "e5m2fnuz": 8, "int8": 4}
"""Number of elements of A (and of B) that a lane holds, by format; they are neighbours along k."""

LATER_PER_LANE = {
    "v_mfma_i32_32x32x16_i8": 8, "v_mfma_i32_16x16x32_i8": 8, "v_mfma_i32_32x32x32_i8": 16, "v_mfma_i32_16x16x64_i8": 16,
    "v_mfma_f32_32x32x16_f16": 8, "v_mfma_f32_16x16x32_f16": 8, "v_mfma_f32_32x32x16_bf16": 8, "v_mfma_f32_16x16x32_bf16": 8,
}  # fmt: skip
"""Number of elements per lane of instructions of one block that gfx942 and gfx950 added. Their builtins have their names."""

OLD_BF16_PER_LANE = 2
"""Number of elements per lane of the bf16 instructions without `_1k` in their name on gfx908 and gfx90a."""


def per_lane(instruction: Instruction) -> int:
    """Number of elements of A that a lane holds."""
    if instruction.a == BF16 and instruction.name.endswith("bf16") and instruction.arch in ("gfx908", "gfx90a"):
        return OLD_BF16_PER_LANE
    return LATER_PER_LANE.get(instruction.name, PER_LANE[instruction.a.name])


def blocks(instruction: Instruction) -> int:
    """Number of independent m×n×k products that the instruction computes at once."""
    return LANES * per_lane(instruction) // (instruction.m * instruction.k)


def operand_table(rows: int, k: int, elements: int) -> Table:
    """The layout of A with its m rows, or of B with its n columns as rows: lanes run over rows, then blocks, then groups of
    k."""
    lane, element = np.arange(LANES)[:, None], np.arange(elements)
    count = LANES * elements // (rows * k)
    row, block, group = lane % rows, lane // rows % count, lane // rows // count
    return (block * rows + row) * k + group * elements + element


def result_table(m: int, n: int, count: int, fp64: bool) -> Table:
    """The layout of C and D.

    fp32: a lane holds four neighbouring rows of one column; lanes run over columns and then over groups of four rows. fp64:
    a lane holds one row in four of one column.
    """
    lane = np.arange(LANES)[:, None]
    element = np.arange(m * n * count // LANES)
    if fp64:
        row = 4 * element + lane // 16 if count == 1 else lane // 16 + 0 * element
        block = 0 * row if count == 1 else lane // n % count + 0 * element
    elif m == 4:
        row, block = element + 0 * lane, lane // n + 0 * element
    else:
        of_a_block = m * n // LANES
        block, within = element // of_a_block + 0 * lane, element % of_a_block
        row = within // 4 * (4 * LANES // n) + lane // n * 4 + within % 4
    return (block * m + row) * n + lane % n


ENTRY = "run_tiles"
"""Name of the entry point in every source: run_tiles(a, b, c, d, tiles), arrays as for NVIDIA's kernels."""

THREADS = 256

_SOURCE = Template("""\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
typedef $element Element;
typedef $accumulator Accumulator;
typedef int Words __attribute__((ext_vector_type(4)));
typedef Element Operand __attribute__((ext_vector_type($operand_elements)));
typedef Accumulator Result __attribute__((ext_vector_type($result_elements)));
$tables
// A block has exactly $threads threads: with this attribute, and one wave a SIMD as enough, the compiler spills no register.
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size($threads, $threads), amdgpu_waves_per_eu(1, 1)))
void $entry(const $code* a, const $code* b, const Accumulator* c, Accumulator* d, unsigned int tiles) {
    const unsigned int lane = __builtin_amdgcn_workitem_id_x() % $lanes;
    const unsigned int waves = __builtin_amdgcn_grid_size_x() / $lanes;
    unsigned int group = (__builtin_amdgcn_workgroup_id_x() * $threads + __builtin_amdgcn_workitem_id_x()) / $lanes;
    for (; group < tiles / $blocks; group += waves) {
        const unsigned long tile = (unsigned long)group * $blocks;
        union { $code codes[$per_lane]; Operand operand; $word word; } a_reg, b_reg;
        Result c_reg;
        for (int e = 0; e < $per_lane; ++e) {
            a_reg.codes[e] = a[tile * $m * $k + A_PLACE[lane][e]];
            b_reg.codes[e] = b[tile * $n * $k + B_PLACE[lane][e]];
        }
        for (int e = 0; e < $result_elements; ++e) c_reg[e] = c[tile * $m * $n + D_PLACE[lane][e]];
        const Result d_reg = $builtin(a_reg.$view, b_reg.$view, c_reg$first, 0, 0, 0);
        for (int e = 0; e < $result_elements; ++e) d[tile * $m * $n + D_PLACE[lane][e]] = d_reg[e];
    }
}
""")


@dataclass(frozen=True, kw_only=True)
class HipKernel:
    """A HIP kernel for one instruction.

    Attributes:
        arch: architecture, such as gfx908.
        name: the catalogue's name of the instruction.
        builtin: the clang builtin, or the assembler's text.
        source: HIP C++ without any header.
        threads: threads of a block.
        tiles_per_block: tiles that a block computes at once.
        mnemonic: the instruction's name in assembly.
        wave: lanes of a wave.
    """

    arch: str
    name: str
    builtin: str
    source: str
    threads: int
    tiles_per_block: int
    mnemonic: str
    wave: int = LANES


def builtin_of(instruction: Instruction) -> str:
    """The clang builtin of an instruction, such as `__builtin_amdgcn_mfma_f32_32x32x4bf16_1k` for
    `v_mfma_f32_32x32x4_2b_bf16`; the older bf16 instructions of gfx942 have the _1k name."""
    name = instruction.name.removeprefix("v_")
    if instruction.name in LATER_PER_LANE:
        return f"__builtin_amdgcn_{name}"
    new = re.fullmatch(r"(mfma_[fi]\d+_\d+x\d+x\d+)(?:_\d+b)?_(f32|f64|f16|bf16|i8)", name)
    if new is not None:
        name = new[1] + new[2] + ("_1k" if new[2] == "bf16" else "")
    return f"__builtin_amdgcn_{name}"


_CODE = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long"}


def _element(instruction: Instruction) -> str:
    """The C type of an operand of the builtin."""
    operand = instruction.a
    if operand == BF16:
        return "__bf16" if instruction.name in LATER_PER_LANE else "short"
    return {"fp64": "double", "fp32": "float", "tf32": "float", "fp16": "_Float16"}.get(operand.name, "unsigned char")


def mfma_kernel(instruction: Instruction) -> HipKernel:
    """The kernel of a `v_mfma`."""
    i = instruction
    count, elements = blocks(i), per_lane(i)
    result = result_table(i.m, i.n, count, i.d == FP64)
    builtin = builtin_of(i)
    tables = [
        ("A_PLACE", operand_table(i.m, i.k, elements)),
        ("B_PLACE", operand_table(i.n, i.k, elements)),
        ("D_PLACE", result),
    ]
    is_packed = i.a.storage_bits == 8
    accumulator = {"fp64": "double", "int32": "int"}.get(i.d.name, "float")
    scalar_result = result.shape[1] == 1
    source = _SOURCE.substitute(
        element=_element(i), accumulator=accumulator, entry=ENTRY, builtin=builtin,
        operand_elements=elements, result_elements=result.shape[1],
        tables="\n".join(offsets_table(*named) for named in tables),
        code=_CODE[i.a.storage_bits], lanes=LANES, threads=THREADS, blocks=count, per_lane=elements,
        word={4: "int", 8: "long", 16: "Words"}[elements] if is_packed else _element(i), m=i.m, n=i.n, k=i.k,
        view="word" if is_packed or elements == 1 else "operand", first="[0]" if scalar_result else "",
    )  # fmt: skip
    return HipKernel(
        arch=i.arch, name=i.name, builtin=builtin, source=source, threads=THREADS, tiles_per_block=THREADS // LANES * count,
        mnemonic=i.name,
    )  # fmt: skip


def offsets_table(name: str, offsets: Table) -> str:
    """Source text of a layout as a constant of a kernel."""
    rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in np.asarray(offsets).tolist())
    return f"__device__ const short {name}[{offsets.shape[0]}][{offsets.shape[1]}] = {{{rows}}};"
