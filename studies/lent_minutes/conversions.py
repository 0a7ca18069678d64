"""Item 3: `cvt` of every fp32 number to narrower formats, beside golden's rules in the library's own C++: how many codes
differ and a digest of them, by sign and exponent."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import golden
from golden.arithmetic.rounding import Mode
from golden.native.cuda import INCLUDE, cubin
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.source import target_of
from hwtests.nvidia.volume import cuda_errors, loaded
from studies.lent_minutes.work import ARCH, Entry, Progress

ENTRY = "convert"
"""convert(digests, differ, examples, fractions): a block row for each sign and exponent."""

GROUPS = 512
"""Number of groups of fp32 numbers: one for each sign and exponent."""

FRACTIONS = 1 << 23
"""Number of fractions of each group that are converted: all."""

BLOCKS, THREADS = 16, 256

EXAMPLES = 16
"""Number of differing numbers that are kept, with both codes."""


class Conversion(NamedTuple):
    """A `cvt` from fp32.

    Attributes:
        ptx: the instruction, with %0 for the result and %1 for the number. to: golden's format. mode: the rounding mode.
        saturates: whether what is too large becomes the largest number.
    """

    ptx: str
    to: str
    mode: Mode
    saturates: bool = False


CONVERSIONS = {
    "tf32 rna": Conversion("cvt.rna.tf32.f32 %0, %1;", "tf32", "RNA"),
    "tf32 rz": Conversion("cvt.rz.tf32.f32 %0, %1;", "tf32", "RZ"),
    "tf32 rn": Conversion("cvt.rn.tf32.f32 %0, %1;", "tf32", "RNE"),
    "e4m3": Conversion("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;", "e4m3", "RNE", saturates=True),
    "e5m2": Conversion("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;", "e5m2", "RNE", saturates=True),
    "fp16": Conversion("cvt.rn.f16.f32 %0, %1;", "fp16", "RNE"),
    "fp16 rz": Conversion("cvt.rz.f16.f32 %0, %1;", "fp16", "RZ"),
    "bf16": Conversion("cvt.rn.bf16.f32 %0, %1;", "bf16", "RNE"),
    "bf16 rz": Conversion("cvt.rz.bf16.f32 %0, %1;", "bf16", "RZ"),
}
"""Every conversion that is run. A conversion to FP8 gives a pair of codes, which must be equal."""

MODEL = """
#include "mmau/rounding.hpp"

/// golden's code of an fp32 number: rounded once; what is too large becomes `largest`, which is the largest number where the
/// conversion saturates, else infinity; RZ keeps the largest number too, but for infinities. Every NaN becomes one.
MMAU_FN uint32_t model_of(uint32_t code) {
    const mmau::Format from = mmau::format_of(MMAU_FP32), to = mmau::format_of(%(to)s);
    constexpr mmau::Mode mode = mmau::Mode::%(mode)s;
    const mmau::Decoded x = mmau::decode(from, code);
    if (x.cls == mmau::Cls::nan) return static_cast<uint32_t>(to.nvidia_nan());
    const uint64_t sign = x.sign ? to.sign_bit() : 0;
    const uint64_t above = to.specials == mmau::Specials::fn ? to.field_mask() : to.exponent_ones();  // NaN, infinity
    constexpr bool saturates = %(saturates)s;
    if (x.cls == mmau::Cls::infinity) return static_cast<uint32_t>(sign | (above - saturates) << to.pad_bits);
    if (!x.sig) return static_cast<uint32_t>(sign);
    const int exp = x.exp - from.man_bits, top = mmau::bit_length(x.sig) - 1 + exp;
    const int lsb = (top > to.e_min() ? top : to.e_min()) - to.man_bits;
    const uint64_t steps = static_cast<uint64_t>(lsb + to.man_bits - to.e_min()) << to.man_bits;
    const uint64_t field = steps + (lsb - exp > 62 ? 0 : mmau::rounded(x.sig, lsb - exp, mode, x.sign));
    const uint64_t largest = above - (saturates || mode == mmau::Mode::RZ);
    return static_cast<uint32_t>(sign | (field < largest ? field : largest) << to.pad_bits);
}

/// A number's share in a digest, which is the sum of all shares: SplitMix64 of the number and its code.
MMAU_FN uint64_t share(uint32_t number, uint32_t code) {
    uint64_t x = (static_cast<uint64_t>(code) << 32 | number) + 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}
"""
"""C++: golden's conversion, by the functions of the native library's header."""

_KERNEL = """
extern "C" __global__ void convert(unsigned long long* digests, unsigned long long* agree, unsigned int* examples,
                                   unsigned int* count, unsigned int fractions) {
    unsigned long long digest = 0, right = 0;
    for (unsigned int fraction = blockIdx.x * blockDim.x + threadIdx.x; fraction < fractions;
         fraction += gridDim.x * blockDim.x) {
        const unsigned int number = blockIdx.y << 23 | fraction;
        %(register)s made;
        asm("%(ptx)s" : "=%(constraint)s"(made) : "f"(__uint_as_float(number)));
        const unsigned int code = static_cast<unsigned int>(made), expected = model_of(number) * %(copies)su;
        digest += share(number, code);
        if (code == expected) {
            ++right;
            continue;
        }
        const unsigned int place = atomicAdd(count, 1u);
        if (place >= %(examples)s) continue;
        examples[3 * place] = number;
        examples[3 * place + 1] = code;
        examples[3 * place + 2] = expected;
    }
    atomicAdd(&digests[blockIdx.y], digest);
    atomicAdd(&agree[blockIdx.y], right);
}
"""


def model_source(conversion: Conversion) -> str:
    """The C++ of golden's conversion and of the digest."""
    return MODEL % {
        "to": f"MMAU_{conversion.to.upper()}", "mode": conversion.mode, "saturates": str(conversion.saturates).lower(),
    }  # fmt: skip


def copies(conversion: Conversion) -> int:
    """The factor that repeats a code until it fills its register: FP8 codes come in pairs."""
    return 0x101 if golden.FORMATS[conversion.to].storage_bits == 8 else 1


def kernel_source(conversion: Conversion) -> str:
    """The kernel of a conversion."""
    is_wide = golden.FORMATS[conversion.to].storage_bits == 32
    return model_source(conversion) + _KERNEL % {
        "register": "unsigned int" if is_wide else "unsigned short", "constraint": "r" if is_wide else "h",
        "ptx": conversion.ptx, "copies": copies(conversion), "examples": EXAMPLES,
    }  # fmt: skip


def units() -> Sequence[str]:
    """The names of all conversions."""
    return list(CONVERSIONS)


class Conversions:
    """The item on a device."""

    def __init__(self, device: CudaDevice) -> None:
        self._xp = device.xp
        self._kernel = cache(self._loaded)

    def _loaded(self, conversion: Conversion) -> Any:
        return loaded(self._xp, cubin(kernel_source(conversion), target_of(ARCH), INCLUDE), ENTRY)

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """All numbers through one conversion."""
        xp = self._xp
        with cuda_errors(xp):
            digests, agree = xp.zeros(GROUPS, xp.uint64), xp.zeros(GROUPS, xp.uint64)
            examples, count = xp.zeros((EXAMPLES, 3), xp.uint32), xp.zeros(1, xp.uint32)
            arguments = (digests, agree, examples, count, xp.uint32(FRACTIONS))
            self._kernel(CONVERSIONS[unit])((BLOCKS, GROUPS, 1), (THREADS, 1, 1), arguments)
            sums, right, rows, met = (xp.asnumpy(array) for array in (digests, agree, examples, count))
        # what no thread has found to agree differs, whether a thread met it or not
        wrong = {f"{group:#05x}": FRACTIONS - int(n) for group, n in enumerate(right.tolist()) if n != FRACTIONS}
        kept = [[f"{code:#x}" for code in row] for row in rows[: int(met[0])].tolist()]
        text = " ".join(f"{digest:016x}" for digest in sums.tolist())
        return {
            "status": "done", "converted": GROUPS * FRACTIONS, "differ": wrong, "examples": kept, "digests": text,
            "digest": hashlib.sha256(text.encode()).hexdigest(),
        }  # fmt: skip
