"""The kernel of any AMD instruction of the catalogue."""

from dataclasses import dataclass, fields
from string import Template
from typing import Literal

import numpy as np

import golden
from golden import Instruction
from golden.arithmetic.formats import INT32
from golden.arrays import BitArray
from golden.checks import check_int
from hwtests.amd.mfma import ENTRY, HipKernel, Table, mfma_kernel, offsets_table

HALF_BITS = 16
"""Bits of one half of a register."""

ALL = 7
"""The bits for all three operands: 1 for A, 2 for B, 4 for C."""

NAMES = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")


@dataclass(frozen=True, kw_only=True)
class Modifiers:
    """Modifiers of an instruction, each a mask with a bit for A, B and C, as in `ALL`.

    Attributes:
        op_sel: for a `v_dot2`, the operands A and B whose high half is taken for product 0. For a `v_wmma` with 16-bit
            results on RDNA3, the bit of C reads C from, and writes D to, the high halves of registers; the other bits are
            ignored.
        op_sel_hi: for a `v_dot2`, the operands whose high half is taken for product 1 (the default); ignored by a `v_wmma`.
        neg_lo, neg_hi: negate the elements of even (neg_lo) and odd (neg_hi) k. For C, neg_hi takes the magnitude, then
            neg_lo negates.
    """

    op_sel: int = 0
    op_sel_hi: int = ALL
    neg_lo: int = 0
    neg_hi: int = 0

    def text(self) -> str:
        """The modifiers as the assembler writes them; those with their default value are left out."""
        listed = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return "".join(
            f" {name}:[{bits & 1},{bits >> 1 & 1},{bits >> 2 & 1}]" for name, bits, default in listed if bits != default
        )

    @property
    def takes_high_half_of_c(self) -> bool:
        """Whether 16-bit C and D lie in the high halves of registers."""
        return bool(self.op_sel & 4)

    def applied(
        self, instruction: Instruction, a: BitArray, b: BitArray, c: BitArray
    ) -> tuple[BitArray, BitArray, BitArray]:
        """The operands after the modifiers: the instruction returns for a, b and c what the model returns for these.

        Args:
            a, b: bit patterns [..., K].
            c: bit patterns [...].

        Raises:
            ValueError: the instruction has no such modifiers.
        """
        check_modifiers(instruction, self)
        seen = []
        for operand, codes in enumerate((a, b)):
            low, high, neg_lo, neg_hi = (getattr(self, name) >> operand & 1 for name in NAMES)
            halves = codes[..., [low, high]] if is_dot2(instruction) else codes
            sign = np.where(np.arange(halves.shape[-1]) % 2, neg_hi, neg_lo) * instruction.a.negative_zero
            seen.append(halves ^ sign.astype(codes.dtype))
        sign_of_c = c.dtype.type(instruction.c.negative_zero)
        magnitude = c & ~sign_of_c if self.neg_hi & 4 else c
        return seen[0], seen[1], magnitude ^ sign_of_c if self.neg_lo & 4 else magnitude


def is_dot2(instruction: Instruction) -> bool:
    """Whether the instruction computes a dot product in every lane."""
    return instruction.name.startswith("v_dot2")


def free_bits(instruction: Instruction) -> dict[str, int]:
    """For each modifier, the bits that may differ from the default; empty for an instruction on which no effect is known."""
    i = instruction
    if is_dot2(i):
        return {} if i.d.width == HALF_BITS else dict.fromkeys(NAMES, 3)
    halves = ALL if i.d.width == HALF_BITS and i.arch != "gfx1201" else 0
    return {"op_sel": halves, "op_sel_hi": halves, "neg_lo": ALL, "neg_hi": ALL}


def check_modifiers(instruction: Instruction, modifiers: Modifiers) -> None:
    """Raise unless the instruction has these modifiers, and their effect is known."""
    name, free = instruction.name, free_bits(instruction)
    if instruction.c == INT32:
        raise ValueError(f"{name} has no modifiers but its signs and clamp")
    if not free:
        raise ValueError(f"{name} has no modifiers here: nobody has recorded their effect")
    for field in fields(modifiers):
        bits, allowed = getattr(modifiers, field.name), free[field.name]
        check_int(field.name, bits, 0, ALL)
        if (bits ^ field.default) & ~allowed:
            but = f" but for the bits {allowed} (1 of A, 2 of B, 4 of C)" if allowed else ""
            raise ValueError(f"{field.name} of {name} must be {field.default}{but}, got {bits}")


THREADS = 256
LANE_GROUP = 16
"""Number of lanes that hold the rows of A, or the columns of B."""

_SOURCE = Template("""\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
typedef unsigned int Word;
$tables
template <int words> struct Registers { typedef Word type __attribute__((ext_vector_type(words))); };
template <> struct Registers<1> { typedef Word type; };
template <int words> union Held { typename Registers<words>::type all; Word word[words]; };

// Elements of `bits` bits, `together` in a register, the first one at bit `first`.
template <int words, int bits, int together, int first, class Code>
__device__ Held<words> gathered(const Code* codes, const short* place) {
    Held<words> held;
    for (int w = 0; w < words; ++w) {
        held.word[w] = 0;
        for (int e = 0; e < together; ++e) held.word[w] |= (Word)codes[place[w * together + e]] << (first + bits * e % 32);
    }
    return held;
}

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size($threads, $threads)))
void $entry(const $code* a, const $code* b, const $result* c, $result* d, unsigned int tiles) {
    const unsigned int lane = __builtin_amdgcn_workitem_id_x() % $lanes;
    const unsigned int waves = __builtin_amdgcn_grid_size_x() / $lanes;
    unsigned int group = (__builtin_amdgcn_workgroup_id_x() * $threads + __builtin_amdgcn_workitem_id_x()) / $lanes;
    for (; group < tiles / $blocks; group += waves) {
        const unsigned long tile = (unsigned long)group * $blocks;
        const Held<$operand_words> a_reg = gathered<$operand_words, $bits, $together, 0>(a + tile * $m * $k, A_PLACE[lane]);
        const Held<$operand_words> b_reg = gathered<$operand_words, $bits, $together, 0>(b + tile * $n * $k, B_PLACE[lane]);
        const Held<$result_words> c_reg =
            gathered<$result_words, $c_bits, $c_together, $c_first>(c + tile * $m * $n, D_PLACE[lane]);
        Held<$result_words> d_reg;
        asm volatile("$mnemonic %0, %1, %2, %3$modifiers"
                     : "=&v"(d_reg.all)
                     : "v"(a_reg.all), "v"(b_reg.all), "v"(c_reg.all));
        for (int w = 0; w < $result_words; ++w) {
            for (int e = 0; e < $c_together; ++e) {
                d[tile * $m * $n + D_PLACE[lane][w * $c_together + e]] =
                    ($result)(d_reg.word[w] >> ($c_first + $c_bits * e % 32));
            }
        }
    }
}
""")


def wave_size(instruction: Instruction) -> Literal[32, 64]:
    """Number of lanes of a wave; a `v_dot2` of RDNA runs in wave32, gfx9 has 64 only."""
    return 64 if "_w64" in instruction.name or instruction.arch.startswith("gfx9") else 32


def layout_is_known(instruction: Instruction) -> bool:
    """Whether the elements that every lane holds are known. They are not for 16 factors of 4 bits on gfx1201 in wave64,
    which fill 32 lanes."""
    i = instruction
    return (i.arch, i.a.width, i.k, wave_size(i)) != ("gfx1201", 4, 16, 64)


def operand_table(instruction: Instruction) -> Table:
    """Which element of A [m, k], or of B [n, k], a lane holds in which place.

    Raises:
        ValueError: the layout is unknown, by `layout_is_known`.
    """
    if not layout_is_known(instruction):
        raise ValueError(f"{instruction.name} has no kernel: what lanes 32 to 63 hold of its factors is not documented")
    i, wave = instruction, wave_size(instruction)
    lane = np.arange(wave)[:, None]
    if is_dot2(i):
        return lane * i.k + np.arange(i.k)
    row, group = lane % LANE_GROUP, lane // LANE_GROUP
    if i.arch != "gfx1201":
        return row * i.k + np.arange(i.k)
    element = np.arange(i.k // (wave // LANE_GROUP))
    if i.c == INT32 and wave == 64:
        return row * i.k + len(element) * (2 * (group % 2) + group // 2) + element
    if i.c == INT32:
        return row * i.k + 16 * (element // 8) + 8 * group + element % 8
    return row * i.k + len(element) * group + element


def result_table(instruction: Instruction) -> Table:
    """Which element of C and D [m, n] a lane holds in which place."""
    i, wave = instruction, wave_size(instruction)
    lane = np.arange(wave)[:, None]
    if is_dot2(i):
        return lane
    column, group, groups = lane % LANE_GROUP, lane // LANE_GROUP, wave // LANE_GROUP
    element = np.arange(i.m // groups)
    if i.arch != "gfx1201":
        return (element * groups + group) * i.n + column
    first = 8 * group if wave == 32 else 8 * (group % 2) + 4 * (group // 2)
    return (first + element) * i.n + column


def mnemonic_of(instruction: Instruction) -> str:
    """The instruction's name without wave, signs and clamp, which the assembler takes in another form."""
    return instruction.name.partition("_w32")[0].partition("_w64")[0]


def wmma_kernel(instruction: Instruction, modifiers: Modifiers | None = None) -> HipKernel:
    """The kernel of a `v_wmma` or `v_dot2`. Its results are those of `Modifiers.applied` to the operands.

    Raises:
        ValueError: the layout is unknown, or the instruction has no such modifiers.
    """
    i, wave = instruction, wave_size(instruction)
    if modifiers is not None:
        check_modifiers(i, modifiers)
    chosen = modifiers or Modifiers()
    if i.c == INT32:
        signs = 2 * i.b.signed + i.a.signed
        text = Modifiers(neg_lo=int(signs)).text() + " clamp" * i.name.endswith(".clamp")
    else:
        text = chosen.text()
    operands, results = operand_table(i), result_table(i)
    bits, together = i.a.width, 32 // i.a.width
    packed = i.d.width == 16 and i.arch == "gfx1201" and not is_dot2(i)
    blocks = wave if is_dot2(i) else 1
    places = {"A_PLACE": operands, "B_PLACE": operands, "D_PLACE": results}
    source = _SOURCE.substitute(
        tables="\n".join(offsets_table(name, table) for name, table in places.items()),
        entry=ENTRY, threads=THREADS, lanes=wave, blocks=blocks, m=i.m, n=i.n, k=i.k, bits=bits, together=together,
        operand_words=operands.shape[1] // together, result_words=results.shape[1] // (2 if packed else 1),
        c_bits=i.d.width, c_together=2 if packed else 1, c_first=HALF_BITS * chosen.takes_high_half_of_c,
        mnemonic=mnemonic_of(i), modifiers=text,
        code="unsigned short" if i.a.storage_bits == 16 else "unsigned char",
        result="unsigned short" if i.d.width == 16 else "unsigned int",
    )  # fmt: skip
    return HipKernel(
        arch=i.arch, name=i.name, builtin=f"{mnemonic_of(i)}{text}", source=source, threads=THREADS,
        tiles_per_block=THREADS // wave * blocks, mnemonic=mnemonic_of(i), wave=wave,
    )  # fmt: skip


def kernel_of(instruction: Instruction) -> HipKernel:
    """The kernel that runs an instruction on whole tiles.

    Raises:
        ValueError: an instruction of another vendor, a sparse one, or one whose layout in registers is unknown.
    """
    if not instruction.arch.startswith("gfx"):
        raise ValueError(f"{instruction.name} is no AMD instruction: it runs on {instruction.arch}")
    if instruction.sparse:
        raise ValueError(
            f"{instruction.name} is sparse, and no kernel here holds the index register of AMD's sparse instructions"
        )
    return mfma_kernel(instruction) if instruction.name.startswith("v_mfma") else wmma_kernel(instruction)


def has_kernel(instruction: Instruction) -> bool:
    """Whether there is a kernel: every dense AMD instruction whose layout in registers is known has one."""
    return instruction.arch.startswith("gfx") and not instruction.sparse and layout_is_known(instruction)


def instructions() -> list[Instruction]:
    """Every AMD instruction of the catalogue that has a kernel."""
    return [entry for entry in golden.instructions() if has_kernel(entry)]
