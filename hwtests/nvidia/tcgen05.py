"""`tcgen05.mma` (cta_group::1): one template for every kind. A block computes one tile; D and scales lie in tensor memory.

N and the types of A and B are values of the instruction descriptor, so kernels that differ in those alone share a source;
the descriptor and N are arguments of the launch. Sources: PTX ISA 9.1, sections 9.7.16.4.2 (instruction descriptor),
9.7.16.10.5 (layout of D: all lanes for M = 128, the first 16 of every 32 for M = 64) and 9.7.16.10.7 (scale factors).
"""

import re
from string import Template

from golden import Instruction
from golden.arithmetic.formats import FP32, UE8M0
from hwtests.nvidia.shared_memory import PACK, ROW_BYTES, SHARED_ADDRESS, descriptor_source, packing_of
from hwtests.nvidia.source import ENTRY, Kernel, storage_type, target_of

THREADS = 128
"""Threads of a block, four warps: warp w reads and writes tensor-memory lanes 32w … 32w + 31."""

SCALE_COLUMN = 256
"""First tensor-memory column of the scales of A; those of B come 32 columns later."""

TYPE_CODES: dict[str, dict[str, int]] = {
    "tf32": {"tf32": 2},
    "f16": {"fp16": 0, "bf16": 1},
    "f8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
    "mxf8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
"""The descriptor's code of a type of A or B, by kind (PTX ISA 9.1, tables 42 to 44)."""

_SOURCE = Template("""\
$pack
$shared_address
$descriptor
__device__ unsigned int row_of_lane(int lane) {
    return $row_of_lane;
}
$scale_source
extern "C" __global__ void $entry(const $a_type* a, const $b_type* b, const $c_type* c,$scale_parameters
                                     $c_type* d, unsigned int tiles, unsigned int n, unsigned int instruction_descriptor) {
    __shared__ alignas(128) unsigned char a_shared[$m * $row_bytes];
    __shared__ alignas(128) unsigned char b_shared[256 * $row_bytes];
    __shared__ alignas(8) unsigned long long done;
    __shared__ unsigned int tensor_memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned int row = row_of_lane(threadIdx.x);
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], $columns;"
                     :: "r"(shared_address(&tensor_memory)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                     :: "r"(shared_address(&done)) : "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const unsigned int d_columns = tensor_memory;
    const unsigned int d_lanes = d_columns + (warp * 32 << 16);
    unsigned int phase = 0;
    for (unsigned int index = blockIdx.x; index < tiles; index += gridDim.x, phase ^= 1) {
        const unsigned long long tile = index;
        pack_rows<$a_elements, $a_bits>(a_shared, a + tile * $m * $k, $m);
        pack_rows<$b_elements, $b_bits>(b_shared, b + tile * n * $k, n);
        for (unsigned int column = 0; column < n; ++column) {
            const unsigned int code = row < $m ? c[(tile * $m + row) * n + column] : 0;
            asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(d_lanes + column), "r"(code) : "memory");
        }
$scale_loads        asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        __syncthreads();
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        if (threadIdx.x == 0) {
            asm volatile("{ .reg .pred accumulate; setp.eq.u32 accumulate, 0, 0; "
                         "$ptx [%0], %1, %2, %3, $scale_operands""accumulate; }"
                         :: "r"(d_columns), "l"(descriptor(shared_address(a_shared))),
                            "l"(descriptor(shared_address(b_shared))), "r"(instruction_descriptor)$scale_inputs : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                         :: "r"(shared_address(&done)) : "memory");
        }
        asm volatile("{ .reg .pred ready; again: mbarrier.try_wait.parity.shared::cta.b64 ready, [%0], %1; "
                     "@!ready bra again; }" :: "r"(shared_address(&done)), "r"(phase) : "memory");
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        for (unsigned int column = 0; column < n; ++column) {
            unsigned int code;
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(code) : "r"(d_lanes + column));
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
            if (row < $m) d[(tile * $m + row) * n + column] = ($c_type)code;
        }
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        __syncthreads();
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    }
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, $columns;" :: "r"(d_columns));
}
""")

_SCALE_SOURCE = Template("""
// Scales of rows 32·column … 32·column + 31 lie in one column, a row a lane, k ascending from byte 0; every warp's 32 lanes
// hold a copy.
__device__ void store_scales(unsigned int address, const unsigned char* scales, unsigned int rows, int lane) {
    for (unsigned int column = 0; column * 32 < rows; ++column) {
        const unsigned int row = column * 32 + lane;
        unsigned int word = 0;
        if (row < rows)
            for (int block = 0; block < $blocks; ++block) word |= (unsigned int)scales[row * $blocks + block] << (8 * block);
        asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(address + column), "r"(word) : "memory");
    }
}
""")

_SCALE_LOADS = Template("""\
        store_scales(d_lanes + $scale_a_column, scale_a + tile * $m * $blocks, $m, lane);
        store_scales(d_lanes + $scale_b_column, scale_b + tile * n * $blocks, n, lane);
""")


def kind_of(instruction: Instruction) -> str:
    """The kind in the instruction's PTX name, such as `f16` or `mxf4nvf4`."""
    match = re.search(r"\.kind::(\w+)", instruction.name)
    assert match is not None, instruction.name
    return match[1]


def instruction_descriptor(instruction: Instruction) -> int:
    """The 32-bit instruction descriptor: types, shape, and for scaled kinds the format of the scales. Nothing is negated or
    transposed; scale factors have data ID 0."""
    i, codes = instruction, TYPE_CODES[kind_of(instruction)]
    common = codes[i.a.name] << 7 | codes[i.b.name] << 10 | (i.n >> 3) << 17
    if i.scale is None:
        return common | (i.d == FP32) << 4 | (i.m >> 4) << 24
    return common | (i.scale == UE8M0) << 23 | (i.m >> 7) << 27


def row_of_lane(m: int, lane: int) -> int:
    """Row of D that a tensor-memory lane holds; at least m if the lane holds none."""
    return lane if m == 128 else lane // 32 * 16 + lane % 16 if lane % 32 < 16 else m


_ROW_OF_LANE = {128: "lane", 64: "lane % 32 < 16 ? lane / 32 * 16 + lane % 16 : 64"}
"""M to `row_of_lane` as a CUDA expression."""


def ptx_name(instruction: Instruction) -> str:
    """The PTX spelling of an instruction, such as `tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32`."""
    scaled = "" if instruction.block_size is None else f".block_scale.block{instruction.block_size}"
    return f"tcgen05.mma.cta_group::1.kind::{kind_of(instruction)}{scaled}"


def tcgen05_kernel(instruction: Instruction) -> Kernel:
    """The kernel of a `tcgen05.mma` with both operands in shared memory."""
    i = instruction
    scaled = i.block_size is not None
    blocks = i.k // i.block_size if i.block_size else 0
    packing_a, packing_b = packing_of(i.a, i.k), packing_of(i.b, i.k)
    ptx = ptx_name(i)
    columns = {"scale_a_column": SCALE_COLUMN, "scale_b_column": SCALE_COLUMN + 32}
    source = _SOURCE.substitute(
        pack=PACK, shared_address=SHARED_ADDRESS, descriptor=descriptor_source(1 << 46), entry=ENTRY,
        row_of_lane=_ROW_OF_LANE[i.m], m=i.m, k=i.k, row_bytes=ROW_BYTES, columns=512 if scaled else 256, ptx=ptx,
        a_type=storage_type(i.a), b_type=storage_type(i.b), c_type=storage_type(i.d),
        a_elements=packing_a.elements, a_bits=packing_a.element_bits,
        b_elements=packing_b.elements, b_bits=packing_b.element_bits,
        scale_source=_SCALE_SOURCE.substitute(blocks=blocks) if scaled else "",
        scale_parameters=" const unsigned char* scale_a, const unsigned char* scale_b," if scaled else "",
        scale_loads=_SCALE_LOADS.substitute(m=i.m, blocks=blocks, **columns) if scaled else "",
        scale_operands="[%4], [%5], " if scaled else "",
        scale_inputs=f', "r"(d_columns + {SCALE_COLUMN}), "r"(d_columns + {SCALE_COLUMN + 32})' if scaled else "",
    )  # fmt: skip
    return Kernel(
        arch=i.arch, target=target_of(i.arch), name=i.name, ptx=ptx, source=source, threads=THREADS, tiles_per_block=1,
        arguments=(i.n, instruction_descriptor(i)),
    )  # fmt: skip
