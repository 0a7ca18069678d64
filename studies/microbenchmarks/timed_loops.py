"""Timed loops: `ilp` independent chains of one instruction, between two readings of clock64, for one block of some warps.

Each chain feeds its own result back: a matrix instruction its accumulator, a load its address (every word loaded is the
address of the next load), so that a chain of one shows the completion latency. All operands of matrix instructions are zero.
"""

from dataclasses import dataclass
from string import Template

from golden import Instruction
from hwtests.nvidia.mma import fragments_of, ptx_name
from hwtests.nvidia.shared_memory import ROW_BYTES, SHARED_ADDRESS, descriptor_source
from hwtests.nvidia.source import constraints, container_bits, operand_list, registers
from hwtests.nvidia.wgmma import ptx_name as wgmma_ptx_name

ENTRY = "measure"
"""Name of the entry point: measure(cycles [warps], sink [threads], iterations)."""

MAX_ILP = 6

ACCUMULATOR_REGISTERS = 192
"""Registers that the chains of a wgmma may take together; a thread has 255."""

_SOURCE = Template("""\
$helpers
extern "C" __global__ void $entry(unsigned long long* cycles, unsigned int* sink, int iterations) {
$setup
    __syncthreads();
    unsigned long long start, stop;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(start) :: "memory");
    #pragma unroll 1
    for (int j = 0; j < iterations; ++j) {
$body
        __syncwarp();
    }
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(stop) :: "memory");
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = stop - start;
    unsigned int all = 0;
$gather
    sink[threadIdx.x] = all;
}
""")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One instruction to time.

    Attributes:
        name: name in tables. unit: the unit of `work`, `FMA` or `bytes`.
        work: work of one instruction of one warp (for wgmma, of a quarter of a warpgroup).
        sources: CUDA source by ILP. warps: the numbers of warps to run.
    """

    name: str
    unit: str
    work: int
    sources: dict[int, str]
    warps: tuple[int, ...] = (1, 2, 4, 6, 8, 12, 16)


def _source(helpers: str, setup: list[str], body: list[str], gather: list[str]) -> str:
    def block(lines: list[str], indent: int) -> str:
        return "\n".join(" " * indent + line for line in lines)

    return _SOURCE.substitute(
        entry=ENTRY, helpers=helpers, setup=block(setup, 4), body=block(body, 8), gather=block(gather, 4)
    )


def matrix_benchmark(name: str, ptx: str, work: int, counts: tuple[int, int, int], wide: bool, tail: str = "") -> Benchmark:
    """A warp-level matrix instruction.

    Args:
        counts: registers of A, B and C. wide: 64-bit registers (f64).
        tail: operands after C, of sparse instructions: metadata and selector.
    """
    a, b, c = counts
    word, kind = ("unsigned long long", "l") if wide else ("unsigned int", "r")
    operands = ", ".join([operand_list(0, c), operand_list(c, a), operand_list(c + a, b), operand_list(0, c)])
    inputs = [constraints(kind, "a", a), constraints(kind, "b", b), *(['"r"(0x44444444)'] if tail else [])]
    statement = f'asm volatile("{ptx} {operands}{tail};" : {constraints(f"+{kind}", "d[CHAIN]", c)} : {", ".join(inputs)});'
    sources = {}
    for ilp in range(1, MAX_ILP + 1):
        setup = [
            f"const {word} zero = sink[threadIdx.x];  // zero at run time, unknown to the compiler",
            f"{word} a[{a}], b[{b}], d[{ilp}][{c}];",
            f"for (int r = 0; r < {a}; ++r) a[r] = zero;",
            f"for (int r = 0; r < {b}; ++r) b[r] = zero;",
            f"for (int i = 0; i < {ilp}; ++i) for (int r = 0; r < {c}; ++r) d[i][r] = zero;",
        ]
        body = [statement.replace("CHAIN", str(chain)) for chain in range(ilp)]
        gather = [f"for (int i = 0; i < {ilp}; ++i) for (int r = 0; r < {c}; ++r) all ^= (unsigned int)d[i][r];"]
        sources[ilp] = _source("", setup, body, gather)
    return Benchmark(name=name, unit="FMA", work=work, sources=sources)


def mma_benchmark(instruction: Instruction) -> Benchmark:
    """An unscaled `mma.sync` of the catalogue whose C and D have one format, or an `mma.sp`, whose work counts all of K, as
    the paper does."""
    i = instruction
    fragments, _ = fragments_of(i)
    bits = container_bits(i.a, packed_fp4=False)
    counts = (registers(fragments.a, bits), registers(fragments.b, bits), registers(fragments.c, i.c.storage_bits))
    work, tail = i.m * i.n * i.b_k * fragments.tiles, f", %{sum(counts)}, 0x0" if i.sparse else ""
    return matrix_benchmark(i.name, ptx_name(i), work, counts, wide=i.a.name == "fp64", tail=tail)


def wgmma_benchmark(instruction: Instruction) -> Benchmark:
    """A benchmark of `wgmma` with both operands in shared memory: `ilp` of them in one group, then a wait for the group."""
    i = instruction
    count = i.n * i.d.storage_bits // 64
    signs = "" if i.d.name == "int32" else ", 1, 1"  # integers have none
    flags = f"accumulate{signs}" + (", 0, 0" if i.a.storage_bits == 16 else "")
    statement = (
        f'asm volatile("{{ .reg .pred accumulate; setp.eq.u32 accumulate, 0, 0; '
        f'{wgmma_ptx_name(i)} {operand_list(0, count)}, %{count}, %{count + 1}, {flags}; }}"'
        f' : {constraints("+r", "d[CHAIN]", count)} : "l"(a), "l"(b));'
    )
    setup = [
        f"__shared__ alignas(128) unsigned char shared[{(i.m + i.n) * ROW_BYTES}];",
        f"for (int t = threadIdx.x; t < {(i.m + i.n) * ROW_BYTES}; t += blockDim.x) shared[t] = 0;",
        'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");',
        "const unsigned long long a = descriptor(shared_address(shared));",
        f"const unsigned long long b = descriptor(shared_address(shared + {i.m * ROW_BYTES}));",
    ]
    sources = {}
    for ilp in range(1, min(MAX_ILP, ACCUMULATOR_REGISTERS // count) + 1):
        body = ['asm volatile("wgmma.fence.sync.aligned;" ::: "memory");']
        body += [statement.replace("CHAIN", str(chain)) for chain in range(ilp)]
        body += [
            'asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");',
            'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");',
        ]
        gather = [f"for (int i = 0; i < {ilp}; ++i) for (int r = 0; r < {count}; ++r) all ^= d[i][r];"]
        declared = f"unsigned int d[{ilp}][{count}] = {{}};"
        sources[ilp] = _source(SHARED_ADDRESS + descriptor_source(0), [*setup, declared], body, gather)
    return Benchmark(name=i.name, unit="FMA", work=i.m * i.n * i.k // 4, sources=sources, warps=(4, 8, 12, 16))


def ldmatrix_benchmark(matrices: int) -> Benchmark:
    """ldmatrix.x1, x2 or x4. Lane l reads row l mod 8 of matrix l / 8, and gets word l mod 4 of row l / 4 of the first
    matrix, which holds the address that lane l uses next: its own row's again."""
    names = ", ".join(f"%{r}" for r in range(matrices))
    others = "".join(f', "=r"(r[CHAIN][{n}])' for n in range(1, matrices))
    ptx = f"ldmatrix.sync.aligned.m8n8.x{matrices}.shared.b16 {{{names}}}, [%0];"
    statement = f'asm volatile("{ptx}" : "+r"(r[CHAIN][0]){others});'
    setup = [
        "__shared__ alignas(128) unsigned int shared[4 * 8 * 4];",
        "const unsigned int lane = threadIdx.x % 32, row = shared_address(shared) + lane * 16;",
        "if (threadIdx.x < 128) shared[threadIdx.x] = shared_address(shared) + threadIdx.x % 32 * 16;",
    ]
    return _load_benchmark(f"ldmatrix.x{matrices}", 128 * matrices, statement, setup, matrices, "row")


def shared_load_benchmark(bits: int, ways: int) -> Benchmark:
    """A benchmark of ld.shared.u32 or .u64 where `ways` lanes access each bank; every word that is read holds its own
    address."""
    stride = 4 * ways if bits == 32 else 4 * max(ways, 2)
    names = "%0" if bits == 32 else "{%0, %1}"
    outputs = '"+r"(r[CHAIN][0])' + ("" if bits == 32 else ', "=r"(r[CHAIN][1])')
    kind = "u32" if bits == 32 else "v2.u32"
    statement = f'asm volatile("ld.shared.{kind} {names}, [%0];" : {outputs});'
    setup = [
        f"__shared__ alignas(128) unsigned int shared[{8 * stride}];",
        f"const unsigned int own = shared_address(shared) + threadIdx.x % 32 * {stride};",
        f"if (threadIdx.x < 32) shared[threadIdx.x * {stride // 4}] = own;",
    ]
    return _load_benchmark(f"ld.shared.u{bits} {ways}-way", 4 * bits, statement, setup, bits // 32, "own")


def _load_benchmark(name: str, work: int, statement: str, setup: list[str], count: int, address: str) -> Benchmark:
    sources = {}
    for ilp in range(1, MAX_ILP + 1):
        chains = f"unsigned int r[{ilp}][{count}]; for (int i = 0; i < {ilp}; ++i) r[i][0] = {address};"
        body = [statement.replace("CHAIN", str(chain)) for chain in range(ilp)]
        gather = [f"for (int i = 0; i < {ilp}; ++i) for (int w = 0; w < {count}; ++w) all ^= r[i][w];"]
        sources[ilp] = _source(SHARED_ADDRESS, [*setup, chains], body, gather)
    return Benchmark(name=name, unit="bytes", work=work, sources=sources)
