"""`v_mfma`: one HIP template for every shape and type. A wavefront computes the blocks of one instruction at a time."""

import re
from dataclasses import dataclass
from string import Template

import numpy as np

from golden import Instruction
from golden.arithmetic.formats import Format
from hwtests.amd.layouts import LANES, NEW_INT8_PER_LANE, Table, blocks, operand_table, per_lane, result_table

ENTRY = "run_tiles"
"""Name of the entry point in every source: run_tiles(a, b, c, d, tiles), arrays as for NVIDIA's kernels."""

THREADS = 256

_SOURCE = Template("""\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
typedef $element Element;
typedef $accumulator Accumulator;
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
    `v_mfma_f32_32x32x4_2b_bf16`; gfx942 calls its bf16 by the _1k name."""
    name = instruction.name.removeprefix("v_")
    new = re.fullmatch(r"(mfma_[fi]\d+_\d+x\d+x\d+)(?:_\d+b)?_(f32|f64|f16|bf16|i8)", name)
    if new is not None and new[2] == "i8" and per_lane(instruction) == NEW_INT8_PER_LANE:
        return f"__builtin_amdgcn_{name}"
    if new is not None:
        name = new[1] + new[2] + ("_1k" if new[2] == "bf16" else "")
    return f"__builtin_amdgcn_{name}"


_CODE = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long"}


def _element(operand: Format) -> str:
    """The C type of an operand of the builtin."""
    if operand.name == "bf16":
        return "short"
    return {"fp64": "double", "fp32": "float", "tf32": "float", "fp16": "_Float16"}.get(operand.name, "unsigned char")


def mfma_kernel(instruction: Instruction) -> HipKernel:
    """The kernel of a `v_mfma`."""
    i = instruction
    count, elements = blocks(i), per_lane(i)
    result = result_table(i.m, i.n, count, i.d.name == "fp64")
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
        element=_element(i.a), accumulator=accumulator, entry=ENTRY, builtin=builtin,
        operand_elements=elements, result_elements=result.shape[1],
        tables="\n".join(offsets_table(*named) for named in tables),
        code=_CODE[i.a.storage_bits], lanes=LANES, threads=THREADS, blocks=count, per_lane=elements,
        word=("long" if elements == 8 else "int") if is_packed else _element(i.a), m=i.m, n=i.n, k=i.k,
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
