"""Units with formats of their own, by name, as texts of unit files: every kind of special values, with and without
subnormals and sign, biases far from the usual, and results in formats that have no infinity."""

import tomllib
from typing import Any

from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from tests.twin.twin_numbers import LAYOUTS, Layout

E3M4 = '[formats.e3m4]\nexp_bits = 3\nman_bits = 4\nbias = 3\nspecials = "ieee"\n'
P4 = '[formats.p4]\nexp_bits = 4\nman_bits = 3\nbias = 8\nspecials = "p3109"\n'
UP3 = '[formats.up3]\nexp_bits = 6\nman_bits = 2\nbias = 32\nspecials = "p3109"\nsigned = false\n'
LOW = '[formats.low]\nexp_bits = 3\nman_bits = 2\nbias = -70\nspecials = "fn"\n'
FAR = '[formats.far]\nexp_bits = 3\nman_bits = 2\nbias = 300\nspecials = "fnuz"\n'
DLFLOAT = '[formats.dl]\nexp_bits = 6\nman_bits = 9\nbias = 31\nspecials = "merged"\nsubnormals = false\n'
FP22 = '[formats.fp22]\nexp_bits = 8\nman_bits = 13\nbias = 127\nspecials = "ieee"\n'
UE5M3 = '[formats.ue5m3]\nexp_bits = 5\nman_bits = 3\nbias = 15\nspecials = "fn"\nsigned = false\n'
LEAST = '[formats.least]\nexp_bits = 1\nman_bits = 1\nbias = 0\nspecials = "finite"\n'
_ALIGNED = 'operation = "T-FDPA"\nL = 4\nF = 16\ne_zero = -133\n'

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

SPECIALS: dict[str, Any] = {
    "ieee": "ieee", "fn": "one nan", "merged": "one nan", "fnuz": "nan for -0", "finite": "none", "p3109": "p3109",
}  # fmt: skip


def own_unit(name: str) -> Unit:
    """The unit of that name. Its formats become known to the twin, from the text alone."""
    table = tomllib.loads(f'name = "own"\n{TEXTS[name]}')
    for key, given in table.get("formats", {}).items():
        fields = (given["exp_bits"], given["man_bits"], given["bias"], SPECIALS[given["specials"]])
        LAYOUTS[key] = Layout(*fields, signed=given.get("signed", True), subnormals=given.get("subnormals", True))
    return unit_from_table(table)
