"""Units with formats of their own, by name, as texts of unit files: every kind of special values, with and without
subnormals and sign, biases far from the usual, and results in formats that have no infinity."""

import json
import tomllib

from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from tests.twin.own_numbers import learn

E3M4 = '[formats.e3m4]\nexp_bits = 3\nman_bits = 4\nbias = 3\nspecials = "ieee"\n'
P4 = '[formats.p4]\nexp_bits = 4\nman_bits = 3\nbias = 8\nspecials = "p3109"\n'
UP3 = '[formats.up3]\nexp_bits = 6\nman_bits = 2\nbias = 32\nspecials = "p3109"\nsigned = false\n'
LOW = '[formats.low]\nexp_bits = 3\nman_bits = 2\nbias = -70\nspecials = "fn"\n'
FAR = '[formats.far]\nexp_bits = 3\nman_bits = 2\nbias = 300\nspecials = "fnuz"\n'
DLFLOAT = '[formats.dl]\nexp_bits = 6\nman_bits = 9\nbias = 31\nspecials = "merged"\nsubnormals = false\n'
FP22 = '[formats.fp22]\nexp_bits = 8\nman_bits = 13\nbias = 127\nspecials = "ieee"\n'
UE5M3 = '[formats.ue5m3]\nexp_bits = 5\nman_bits = 3\nbias = 15\nspecials = "fn"\nsigned = false\n'
LEAST = '[formats.least]\nexp_bits = 1\nman_bits = 1\nbias = 0\nspecials = "finite"\n'
MXINT8 = "[formats.mxint8]\nbits = 8\nfraction = 6\n"
UINT5 = "[formats.uint5]\nbits = 5\nsigned = false\n"
INT16 = "[formats.int16]\nbits = 16\nfraction = 15\n"
FEW = '[formats.few]\nvalues = ["-0", "3*2^-9", "-96", "0.75", "inf", "nan", "-inf", "0"]\n'
LOGS = '[formats.logs]\nvalues = ["1", "-2", "1/2", "1"]\n'
_ALIGNED = 'operation = "T-FDPA"\nL = 4\nF = 16\ne_zero = -133\n'

HIF8_DOTS = (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0), ("0000", -1))
"""Prefixes of HiF8, and the bits of exponent that follow; -1 stands for numbers without a hidden one."""


def hif8() -> list[str]:
    """The values of HiF8 by code, as its definition has them (arXiv 2409.16626, table 2): below the sign a prefix says how
    many bits of exponent follow, the first of which is its sign and whose leading one is hidden; the rest is mantissa."""
    values = []
    for code in range(256):
        bits = f"{code:08b}"
        if bits in ("10000000", "01101111", "11101111"):
            values.append({"10000000": "nan", "01101111": "inf", "11101111": "-inf"}[bits])
            continue
        prefix, width = next((p, w) for p, w in HIF8_DOTS if bits[1:].startswith(p))
        exponent, mantissa = bits[1 + len(prefix) :][: max(width, 0)], bits[1 + len(prefix) + max(width, 0) :]
        sign = "-" if code & 128 else ""
        if width < 0:  # without a hidden one: 2^(mantissa - 23)
            values.append(f"{sign}1*2^{int(mantissa, 2) - 23}" if int(mantissa, 2) else "0")
            continue
        power = int("1" + exponent[1:], 2) * (-1 if exponent[0] == "1" else 1) if width else 0
        values.append(f"{sign}{int('1' + mantissa, 2)}*2^{power - len(mantissa)}")
    return values


HIF8 = f"[formats.hif8]\nvalues = {json.dumps(hif8())}\n"


def fixed(bits: int, fraction: int) -> str:
    """The text of a fixed-point format `acc`."""
    return f"[formats.acc]\nbits = {bits}\nfraction = {fraction}\n"


TEXTS = {
    "e3m4": f'{_ALIGNED}a = "e3m4"\nb = "e3m4"\nc = "fp32"\nrho = "RNE-FP32"\n{E3M4}',
    "p3109": f'operation = "E-FDPA"\nL = 3\na = "p4"\nb = "up3"\nc = "p4"\nrho = "RNE-p4"\nzero = "ieee"\n{P4}{UP3}',
    "p3109 saturates": f'{_ALIGNED}a = "p4"\nb = "p4"\nc = "p4"\nrho = "RD-p4"\noverflow = "by-mode"\n{P4}',
    "biases": f'operation = "E-FDPA"\nL = 2\na = "low"\nb = "far"\nc = "fp32"\nrho = "RU-FP32"\n{LOW}{FAR}',
    "scaled": (
        'operation = "ST-FDPA"\nL = 4\nK_block = 2\nF = 20\ne_zero = -133\na = "low"\nb = "e5m2"\nc = "fp32"\n'
        f'rho = "RNE-E8M13"\n{LOW}'
    ),
    "dlfloat": f'operation = "E-FDPA"\nL = 1\na = "e4m3"\nb = "e5m2"\nc = "dl"\nrho = "RNE-dl"\nzero = "ieee"\n{DLFLOAT}',
    "dlfloat chunks": f'operation = "E-FDPA"\nL = 2\na = "dl"\nb = "e4m3"\nc = "dl"\nrho = "RNA-dl"\n{DLFLOAT}',
    "fp22": f'{_ALIGNED}a = "e4m3"\nb = "e4m3"\nc = "fp22"\nrho = "RO-fp22"\nsticky = true\n{FP22}',
    "fp8": f'{_ALIGNED}a = "e4m3"\nb = "e4m3"\nc = "fp32"\nrho = "RNE-E4M3"\n',
    "fnuz": f'{_ALIGNED}a = "e4m3"\nb = "fp16"\nc = "e4m3fnuz"\nrho = "RNE-E4M3FNUZ"\n',
    "fnuz by mode": (
        f'operation = "E-FDPA"\nL = 2\na = "bf16"\nb = "e2m1"\nc = "far"\nrho = "RU-far"\noverflow = "by-mode"\n{FAR}'
    ),
    "fp4": 'operation = "E-FDPA"\nL = 2\na = "e2m1"\nb = "e2m1"\nc = "e2m1"\nrho = "RU-E2M1"\noverflow = "saturate"\n',
    "groups": (
        'operation = "GST-FDPA"\nL = 4\nG = 2\nK_block = 2\nscale = "ue4m3"\nF = 22\ne_zero = -139\n'
        f'a = "least"\nb = "e3m4"\nc = "fp16"\nrho = "RZ-FP16"\n{LEAST}{E3M4}'
    ),
    "groups under ue5m3": (
        'operation = "GST-FDPA"\nL = 4\nG = 2\nK_block = 4\nscale = "ue5m3"\nF = 22\ne_zero = -139\n'
        f'a = "e2m1"\nb = "e5m2"\nc = "fp32"\nrho = "RNE-FP32"\n{UE5M3}'
    ),
    "weights under fp16": (
        'operation = "ST-FDPA"\nL = 4\nK_block = 2\nscale = "fp16"\nscales = "b"\nF = 22\ne_zero = -60\n'
        'a = "e5m2"\nb = "int4"\nc = "fp32"\nrho = "RNE-FP32"\n'
    ),
    "groups of a under ue4m3": (
        'operation = "GST-FDPA"\nL = 4\nG = 2\nK_block = 2\nscale = "ue4m3"\nscales = "a"\nF = 22\ne_zero = -139\n'
        'a = "e2m3"\nb = "e5m2"\nc = "fp32"\nrho = "RZ-FP32"\n'
    ),
    "groups under fp16": (
        'operation = "GST-FDPA"\nL = 4\nG = 2\nK_block = 2\nscale = "fp16"\nF = 30\ne_zero = -60\n'
        'a = "e2m1"\nb = "e4m3"\nc = "fp32"\nrho = "RZ-FP32"\n'
    ),
    "products under e5m2": (
        'operation = "ST-FDPA"\nL = 2\nK_block = 1\nscale = "e5m2"\nF = 22\ne_zero = -139\n'
        'a = "e4m3"\nb = "e5m2"\nc = "fp16"\nrho = "RNE-FP16"\ntruncation = "RD"\n'
    ),
    "products under p3109": (
        f'operation = "ST-FDPA"\nL = 2\nK_block = 2\nscale = "p4"\nF = 12\ne_zero = -50\n'
        f'a = "e2m1"\nb = "e3m2"\nc = "bf16"\nrho = "RNE-BF16"\nsticky = true\n{P4}'
    ),
    "products under lone exponents": (
        'operation = "ST-FDPA"\nL = 2\nK_block = 2\nscale = "e"\nF = 12\ne_zero = -60\n'
        'a = "e2m1"\nb = "e2m1"\nc = "bf16"\nrho = "RNE-BF16"\n'
        '[formats.e]\nexp_bits = 5\nman_bits = 0\nbias = 31\nspecials = "finite"\nsigned = false\nsubnormals = false\n'
    ),
    "products under exponents with a zero": (
        'operation = "ST-FDPA"\nL = 2\nK_block = 2\nscale = "e"\nF = 12\ne_zero = -60\n'
        'a = "e2m1"\nb = "e2m1"\nc = "bf16"\nrho = "RNE-BF16"\n'
        '[formats.e]\nexp_bits = 5\nman_bits = 0\nbias = 31\nspecials = "finite"\nsigned = false\n'
    ),
    "hif8": f'{_ALIGNED}a = "hif8"\nb = "hif8"\nc = "fp32"\nrho = "RNE-FP32"\n{HIF8}',
    "tables": (
        f'operation = "E-FDPA"\nL = 3\na = "few"\nb = "logs"\nc = "fp16"\nrho = "RNE-FP16"\nzero = "ieee"\n{FEW}{LOGS}'
    ),
    "table flushed": f'{_ALIGNED}a = "few"\nb = "e5m2"\nc = "fp16"\nrho = "RZ-FP16"\nflush_inputs = true\n{FEW}',
    "table rounded": f'operation = "TR-FDPA"\nL = 4\nF = 24\nF2 = 31\na = "few"\nb = "bf16"\nc = "fp32"\n{FEW}',
    "mxint8": (
        'operation = "ST-FDPA"\nL = 4\nK_block = 2\nF = 25\ne_zero = -133\na = "mxint8"\nb = "mxint8"\nc = "fp32"\n'
        f'rho = "RZ-FP32"\n{MXINT8}'
    ),
    "int4 groups": (
        'operation = "GST-FDPA"\nL = 4\nG = 2\nK_block = 4\nscale = "ue4m3"\nF = 22\ne_zero = -139\n'
        f'a = "int4"\nb = "uint5"\nc = "fp32"\nrho = "RNE-FP32"\n{UINT5}'
    ),
    "int16": f'operation = "E-FDPA"\nL = 2\na = "int16"\nb = "uint5"\nc = "fp32"\nrho = "RNE-FP32"\n{INT16}{UINT5}',
    "weights": f'{_ALIGNED}a = "e4m3"\nb = "int4"\nc = "fp32"\nrho = "RNE-FP32"\ntruncation = "RO"\n',
    "headroom of integers": (
        'operation = "PS-FDPA"\nL = 4\nP = 2\nF = 26\nh = 2\ne_zero = -126\na = "int8"\nb = "mxint8"\nc = "fp32"\n'
        f'rho = "RNE-FP32"\n{MXINT8}'
    ),
    "bytes": 'operation = "T-FDPA"\nL = 4\nF = 24\ne_zero = -133\nrho = "RZ-FP32"\na = "bf16"\nb = "uint8"\nc = "fp32"\n',
    "words": 'operation = "E-FDPA"\nL = 2\na = "uint16"\nb = "e4m3"\nc = "fp32"\nrho = "RNE-FP32"\n',
    "int16 sums": 'operation = "IDPA"\nL = 5\na = "int8"\nb = "uint8"\nc = "int16"\noverflow = "saturate"\n',
    "flexpoint": 'operation = "IDPA"\nL = 4\na = "int16"\nb = "int16"\nc = "int48"\n',
    "int24 sums": 'operation = "IDPA"\nL = 3\na = "uint11"\nb = "int5"\nc = "int24"\n',
    "kulisch": f'operation = "IDPA"\nL = 3\na = "e4m3"\nb = "e4m3"\nc = "acc"\n{fixed(64, 18)}',
    "kulisch saturates": (
        f'operation = "IDPA"\nL = 3\na = "e5m2"\nb = "e4m3"\nc = "acc"\noverflow = "saturate"\n{fixed(56, 26)}'
    ),
    "numbers in fixed point": (
        f'operation = "IDPA"\nL = 5\na = "e2m1"\nb = "e3m2"\nc = "acc"\noverflow = "saturate"\n{fixed(14, 6)}'
    ),
    "weights in fixed point": f'operation = "IDPA"\nL = 2\na = "p4"\nb = "int4"\nc = "acc"\n{fixed(30, 11)}{P4}',
    "integers in fixed point": f'operation = "IDPA"\nL = 2\na = "mxint8"\nb = "int5"\nc = "acc"\n{fixed(20, 7)}{MXINT8}',
    "table in fixed point": (
        'operation = "IDPA"\nL = 2\na = "few"\nb = "e4m3ieee"\nc = "acc"\noverflow = "saturate"\n'
        f'{fixed(40, 19)}{FEW}'
    ),
    "fixed point read": f'operation = "CVT"\na = "acc"\nrho = "RNE-FP32"\nnar = true\n{fixed(64, 18)}',
    "fixed point read small": (
        f'operation = "CVT"\na = "acc"\nrho = "RD-E4M3"\noverflow = "saturate"\nflush_results = true\n{fixed(20, 12)}'
    ),
    "int16 in int32": 'operation = "IDPA"\nL = 3\na = "int16"\nb = "int8"\nc = "int32"\n',
    "multiply": f'operation = "MUL"\na = "fp22"\nb = "fp22"\nrho = "RD-fp22"\n{FP22}',
    "add": f'operation = "ADD"\na = "p4"\nb = "p4"\noverflow = "saturate"\n{P4}',
    "fused": f'operation = "FMA"\na = "p4"\nb = "p4"\nc = "p4"\nflush_inputs = true\nflush_results = true\n{P4}',
    "rounded": f'operation = "TR-FDPA"\nL = 4\nF = 24\nF2 = 31\na = "e3m4"\nb = "fp16"\nc = "fp32"\n{E3M4}',
    "headroom": (
        'operation = "OC-FDPA"\nL = 2\nF = 26\nh = 2\ne_zero = -14\na = "e3m4"\nb = "far"\nc = "fp16"\nrho = "RNE-FP16"\n'
        f'{E3M4}{FAR}'
    ),
}  # fmt: skip
"""Name of a unit to its text."""


def own_unit(name: str) -> Unit:
    """The unit of that name. Its formats become known to the twin, from the text alone."""
    table = tomllib.loads(f'name = "own"\n{TEXTS[name]}')
    learn(table)
    return unit_from_table(table)
