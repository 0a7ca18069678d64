"""`wgmma.mma_async`: one template for every type and N. A warpgroup computes one tile; A from shared memory or registers."""

from string import Template

from golden import Instruction
from golden.arithmetic.formats import IntegerFormat
from hwtests.nvidia.shared_memory import CHUNKS_PER_ROW, PACK, ROW_BYTES, SHARED_ADDRESS, descriptor_source, packing_of
from hwtests.nvidia.source import (
    ENTRY,
    GATHER,
    Kernel,
    accumulators,
    constraints,
    container_bits,
    operand_list,
    registers,
    rows_of_a,
    storage_type,
    table,
    target_of,
)

M = 64

THREADS = 128
"""Threads of a block, one warpgroup: warp w holds rows 16w … 16w + 15."""

_SOURCE = Template("""\
$tables
$gather
$pack
$shared_address
$descriptor
extern "C" __global__ void $entry(const $a_type* a, const $b_type* b, const $c_type* c, $metadata_parameter$c_type* d,
                                     unsigned int tiles) {
    __shared__ alignas(128) unsigned char a_shared[$m * $row_bytes];
    __shared__ alignas(128) unsigned char b_shared[$n * $b_chunks * 16];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned int index = blockIdx.x; index < tiles; index += gridDim.x) {
        const unsigned long long tile = index;
        pack_rows<$a_elements, $a_bits>(a_shared, a + tile * $m * $k, $m);
        pack_rows<$b_elements, $b_bits, $b_chunks>(b_shared, b + tile * $n * $b_k, $n);
        unsigned int d_reg[$d_registers];
        gather<$d_registers, $d_bits, 0>(d_reg, c + (tile * $m + 16 * warp) * $n, D_PLACE[lane]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
$a_load        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{ .reg .pred accumulate; setp.eq.u32 accumulate, 0, 0; "
                     "$ptx $operands; }"
                     : $outputs
                     : $inputs);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        asm volatile("" : $outputs :: "memory");
        scatter(d + (tile * $m + 16 * warp) * $n, d_reg, D_PLACE[lane]);
        __syncthreads();
    }
}
""")

_A_FROM_SHARED = "        const unsigned long long a_reg[1] = {descriptor(shared_address(a_shared))};\n"

_A_FROM_REGISTERS = Template("""\
        unsigned int a_reg[$registers];
        gather<$registers, $bits, 0>(a_reg, a + (tile * $m + 16 * warp) * $k, A_PLACE[lane]);
""")


def ptx_name(instruction: Instruction) -> str:
    """The PTX spelling of an instruction, such as `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16`."""
    family = "wgmma.sp." if instruction.sparse else "wgmma."
    return instruction.name.replace(family, family.replace("wgmma", "wgmma.mma_async") + "sync.aligned.", 1)


def wgmma_kernel(instruction: Instruction, a_in_registers: bool = False) -> Kernel:
    """The kernel of a `wgmma`, dense or sparse: run_tiles(a, b, c[, metadata], d, tiles). The metadata of a tile are one
    32-bit word.

    Args:
        a_in_registers: whether A comes from registers; otherwise it comes from shared memory, as B always does.
    """
    i, ptx, bits = instruction, ptx_name(instruction), container_bits(instruction.a, False)
    a_place = rows_of_a(16, i.k, 32 // bits)
    d_place = accumulators(16, i.n)
    d_count = registers(d_place, i.d.storage_bits)
    a_count = registers(a_place, bits) if a_in_registers else 1
    a_operand = operand_list(d_count, a_count) if a_in_registers else f"%{d_count}"
    metadata = f"%{d_count + a_count + 1}, 0, " if i.sparse else ""
    # scale-d, then, but for integers, the signs of A and B; 16-bit types also say that neither matrix is transposed.
    signs = "" if isinstance(i.a, IntegerFormat) else ", 1, 1"
    flags = f"accumulate{signs}" + (", 0" * (1 if a_in_registers else 2) if bits == 16 else "")
    packing = packing_of(i.a, i.k)
    b_chunks = CHUNKS_PER_ROW * i.b_k // i.k
    inputs = [
        constraints("r" if a_in_registers else "l", "a_reg", a_count),
        f'"l"(descriptor(shared_address(b_shared), {b_chunks}))',
    ]
    if a_in_registers:
        a_load = _A_FROM_REGISTERS.substitute(registers=a_count, bits=bits, m=M, k=i.k)
    else:
        a_load = _A_FROM_SHARED
    source = _SOURCE.substitute(
        tables="\n".join([table("A_PLACE", a_place), table("D_PLACE", d_place)]),
        gather=GATHER, pack=PACK, shared_address=SHARED_ADDRESS, descriptor=descriptor_source(0), entry=ENTRY,
        a_type=storage_type(i.a), b_type=storage_type(i.b), c_type=storage_type(i.d),
        metadata_parameter="const unsigned int* metadata, " if i.sparse else "",
        m=M, n=i.n, k=i.k, b_k=i.b_k, row_bytes=ROW_BYTES, b_chunks=b_chunks,
        a_elements=packing.elements, a_bits=packing.element_bits,
        b_elements=packing.elements, b_bits=packing.element_bits,
        d_registers=d_count, d_bits=i.d.storage_bits, a_load=a_load, ptx=ptx,
        operands=f"{operand_list(0, d_count)}, {a_operand}, %{d_count + a_count}, {metadata}{flags}",
        outputs=constraints("+r", "d_reg", d_count),
        inputs=", ".join([*inputs, *(['"r"(metadata[tile])'] if i.sparse else [])]),
    )  # fmt: skip
    return Kernel(
        arch=i.arch, target=target_of(i.arch), name=i.name, ptx=ptx, source=source, threads=THREADS, tiles_per_block=1,
        route="A from registers" if a_in_registers else "",
    )  # fmt: skip
