"""Kernels of `mma.sync`: one template for every shape, type and block scaling. A warp computes one tile at a time, four of
Volta's."""

import re
from string import Template

from golden import Instruction
from golden.arithmetic.formats import FP16, FP32
from hwtests.nvidia.source import (
    ENTRY,
    GATHER,
    Fragments,
    Kernel,
    code_shift,
    constraints,
    container_bits,
    mma_fragments,
    operand_list,
    quad_pairs,
    register_bits,
    registers,
    scale_columns_of_b,
    scale_rows_of_a,
    storage_type,
    table,
    target_of,
)

THREADS = 128
WARPS = THREADS // 32

_SOURCE = Template("""\
$tables
typedef $register_type Register;

$gather$scale_source
extern "C" __global__ void $entry(const $a_type* a, const $b_type* b, const $c_type* c,$scale_parameters$metadata_parameter
                                     $d_type* d, unsigned int tiles) {
    const int lane = threadIdx.x % 32;
    const unsigned int warps = gridDim.x * blockDim.x / 32;
    for (unsigned int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32; group < tiles / $tiles; group += warps) {
        const unsigned long long tile = (unsigned long long)group * $tiles;
        Register a_reg[$a_registers], b_reg[$b_registers];
        $c_word c_reg[$c_registers];
        $d_word d_reg[$d_registers];
        gather<$a_registers, $a_bits, $a_shift>(a_reg, a + tile * $m * $k, A_PLACE[lane]);
        gather<$b_registers, $b_bits, $b_shift>(b_reg, b + tile * $n * $b_k, B_PLACE[lane]);
        gather<$c_registers, $c_bits, 0>(c_reg, c + tile * $m * $n, C_PLACE[lane]);
$scale_loads        asm volatile("$ptx $operands;"
                     : $outputs
                     : $inputs);
        scatter(d + tile * $m * $n, d_reg, D_PLACE[lane]);
    }
}
""")

_SCALE_SOURCE = """
__device__ unsigned int scales_of(const unsigned char* scales, int row) {
    unsigned int word = 0;
    if (row >= 0)
        for (int block = 0; block < BLOCKS; ++block) word |= (unsigned int)scales[row * BLOCKS + block] << (8 * block);
    return word;
}
"""

_SCALE_LOADS = Template("""\
        const unsigned int scale_a_reg = scales_of(scale_a + tile * $m * BLOCKS, SCALE_A_ROW[lane][0]);
        const unsigned int scale_b_reg = scales_of(scale_b + tile * $n * BLOCKS, SCALE_B_COLUMN[lane][0]);
""")


def ptx_name(instruction: Instruction) -> str:
    """The PTX spelling of an instruction, such as `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`."""
    match = re.fullmatch(r"mma(?:\.sp)?\.(m\d+n\d+k\d+)(\.kind::\w+)?(?:\.block\d+)?(\.[.\w]+)", instruction.name)
    assert match is not None, instruction.name
    shape, kind, types = match[1], match[2] or "", match[3]
    scaled = "" if instruction.block_size is None else f".block_scale.scale_vec::{scales_per_row(instruction)}X"
    sparse = ".sp::ordered_metadata" if instruction.sparse else ""
    return f"mma{sparse}.sync.aligned.{shape}.row.col{kind}{scaled}{types}"


def scales_per_row(instruction: Instruction) -> int:
    """Number of scales of one row of A; 0 if unscaled."""
    return 0 if instruction.block_size is None else instruction.k // instruction.block_size


def fp4_is_packed(instruction: Instruction) -> bool:
    """Whether a register holds eight e2m1, as in the kinds that take no other format."""
    return instruction.k == 64


def fragments_of(instruction: Instruction) -> tuple[Fragments, Fragments]:
    """The layouts of A, B and C, and those from which the layout of D is taken."""
    i = instruction
    if (i.m, i.n, i.k) == (8, 8, 4) and i.a == FP16:
        with_c, with_d = (Fragments(*quad_pairs(accumulator == FP32), tiles=4) for accumulator in (i.c, i.d))
        return with_c, with_d
    fragments = mma_fragments(i.m, i.n, i.k, container_bits(i.a, fp4_is_packed(i)), i.b_k)
    return fragments, fragments


def mma_kernel(instruction: Instruction) -> Kernel:
    """The kernel of an `mma.sync`, block-scaled or not, or of an `mma.sp`: run_tiles(a, b, c[, metadata], d, tiles).

    The metadata of a tile are one 32-bit word for all lanes, so that nothing depends on which lane's word describes which
    group.
    """
    i = instruction
    packed = fp4_is_packed(i)
    fragments, d_fragments = fragments_of(i)
    a_bits, b_bits = container_bits(i.a, packed), container_bits(i.b, packed)
    counts = {
        "d": registers(d_fragments.c, i.d.storage_bits),
        "a": registers(fragments.a, a_bits),
        "b": registers(fragments.b, b_bits),
        "c": registers(fragments.c, i.c.storage_bits),
    }
    starts = dict(zip(counts, [0, counts["d"], counts["d"] + counts["a"], sum(counts.values()) - counts["c"]], strict=True))
    operands = ", ".join(operand_list(starts[key], count) for key, count in counts.items())
    kinds = {key: "l" if bits == 64 else "r" for key, bits in _widths(i, a_bits).items()}
    inputs = ", ".join(constraints(kinds[key], f"{key}_reg", counts[key]) for key in "abc")
    tables = [table("A_PLACE", fragments.a), table("B_PLACE", fragments.b), table("C_PLACE", fragments.c)]
    tables.append(table("D_PLACE", d_fragments.c))
    scaled = i.block_size is not None
    if scaled:
        tables += [table("SCALE_A_ROW", scale_rows_of_a()), table("SCALE_B_COLUMN", scale_columns_of_b())]
        tables.append(f"constexpr int BLOCKS = {scales_per_row(i)};")
        last = sum(counts.values())
        operands += f", %{last}, {{0, 0}}, %{last + 1}, {{0, 0}}"
        inputs += ', "r"(scale_a_reg), "r"(scale_b_reg)'
    if i.sparse:
        operands += f", %{sum(counts.values())}, 0x0"
        inputs += ', "r"(metadata[tile])'
    words = {64: "unsigned long long", 32: "unsigned int"}
    ptx = ptx_name(i)
    source = _SOURCE.substitute(
        tables="\n".join(tables), entry=ENTRY, ptx=ptx, operands=operands,
        gather=GATHER, register_type=words[register_bits(a_bits)],
        a_type=storage_type(i.a), b_type=storage_type(i.b), c_type=storage_type(i.c), d_type=storage_type(i.d),
        c_word=words[register_bits(i.c.storage_bits)], d_word=words[register_bits(i.d.storage_bits)],
        a_registers=counts["a"], b_registers=counts["b"], c_registers=counts["c"], d_registers=counts["d"],
        a_bits=a_bits, b_bits=b_bits, c_bits=i.c.storage_bits,
        a_shift=code_shift(i.a, packed), b_shift=code_shift(i.b, packed),
        m=i.m, n=i.n, k=i.k, b_k=i.b_k, tiles=fragments.tiles,
        metadata_parameter=" const unsigned int* metadata," if i.sparse else "",
        outputs=constraints(f"={kinds['d']}", "d_reg", counts["d"]), inputs=inputs,
        scale_source=_SCALE_SOURCE if scaled else "",
        scale_parameters=" const unsigned char* scale_a, const unsigned char* scale_b," if scaled else "",
        scale_loads=_SCALE_LOADS.substitute(m=i.m, n=i.n) if scaled else "",
    )  # fmt: skip
    return Kernel(
        arch=i.arch, target=target_of(i.arch), name=i.name, ptx=ptx, source=source, threads=THREADS,
        tiles_per_block=WARPS * fragments.tiles,
    )  # fmt: skip


def _widths(instruction: Instruction, a_bits: int) -> dict[str, int]:
    """Width of the registers of each operand (bits), by the operand's name."""
    i = instruction
    return {
        "a": register_bits(a_bits),
        "b": register_bits(a_bits),
        "c": register_bits(i.c.storage_bits),
        "d": register_bits(i.d.storage_bits),
    }
