"""The parameters of every catalogue entry, against numerics.md, sections 6 and 11, as rules by architecture, format and k.

The vectors that MMA-Sim computed hardly reach e_zero and F2, so the tables are held to the text here.
"""

import pytest

import golden

GENERATIONS = {
    "Volta": {"F": 23, "bytes": 8, "fp16": -19, "fp32": -131},
    "Turing to Ada": {"F": 24, "bytes": 16, "fp16": -20, "fp32": -132},
    "Hopper and later": {"F": 25, "bytes": 32, "fp16": -21, "fp32": -133},
}
"""F, L_max (bytes of A), e_zero by format of d."""

GENERATION_OF = {
    "sm_70": "Volta", "sm_75": "Turing to Ada", "sm_80": "Turing to Ada", "sm_89": "Turing to Ada",
    "sm_90": "Hopper and later", "sm_100": "Hopper and later", "sm_120": "Hopper and later",
}  # fmt: skip

BYTES = {"tf32": 4, "fp16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "e3m2": 1, "e2m3": 1, "e2m1": 1}

DOT_RESULTS = {"fp32": ("RNE-FP32", -126), "fp16": ("RNE-FP16", -14), "bf16": ("RNE-FP32-RZ-BF16", -126)}
"""rho and e_zero of RDNA by the format of d."""

Parameters = tuple[str, dict[str, str | int]]
"""The operation's name, and its parameters but for formats and K_block."""


def integers(i: golden.Instruction) -> Parameters:
    """Exact sums: a step limits its sum once, at the end of the instruction; L is a matter of taste where it wraps."""
    xor = {"combination": "xor"} if ".xor." in i.name else {}
    if i.name.endswith(".clamp"):
        return "IDPA", {"L": i.k // 2, "overflow": "saturate"}
    if ".satfinite." in i.name:
        return "IDPA", {"L": i.k, "overflow": "saturate"}
    L = {"b1": 32, "int4": 16, "uint4": 16}.get(i.a.name, 4 if i.name.startswith("v_mfma") else 16)
    return "IDPA", {"L": L, "overflow": "wrap", **xor}


def rdna(i: golden.Instruction) -> Parameters:
    rho, e_zero = DOT_RESULTS[i.d.name]
    keys: dict[str, str | int] = {"F": 26, "h": 2, "rho": rho, "e_zero": e_zero}
    if i.arch == "gfx1201":
        return "PS-FDPA", {"L": min(i.k, 4), **keys, "P": 2}
    return "OC-FDPA", {"L": 2, **keys} | ({} if i.d.name == "fp16" else {"flush_inputs": True, "flush_results": True})


def nvidia(i: golden.Instruction) -> Parameters:
    if i.a.name == "fp64":
        return "FMA", {"nan": "b-c-a"} if i.arch == "sm_90" else {}
    if i.scale is not None and i.k == 64:
        return "GST-FDPA", {"L": 64, "F": 35, "rho": "RZ-FP32", "e_zero": -139, "truncation": "RZ", "G": 16}
    if i.scale is not None:
        return "ST-FDPA", {"L": 32, "F": 25, "rho": "RZ-FP32", "e_zero": -133, "truncation": "RZ"}
    generation = GENERATIONS["Volta" if ".m8n8k4." in i.name else GENERATION_OF[i.arch]]
    fp8_of_13_bits = i.a.name in ("e4m3", "e5m2") and (i.arch == "sm_89" or i.name.startswith("wgmma"))
    rho = "RNE-FP16" if i.d.name == "fp16" else "RZ-E8M13" if fp8_of_13_bits else "RZ-FP32"
    return "T-FDPA", {
        "L": min(i.k, int(generation["bytes"]) // BYTES[i.a.name]),
        "F": 13 if fp8_of_13_bits else generation["F"],
        "rho": rho,
        "e_zero": generation[i.d.name],
        "truncation": "RZ",
    }


def amd(i: golden.Instruction) -> Parameters:
    if i.a.name in ("fp32", "fp64"):
        return "FMA", {}
    if i.name.startswith("v_dot2"):
        return "E-FDPA", {"L": 2, "rho": "RNE-FP32"}
    if i.arch == "gfx908":
        return "E-FDPA", {"L": min(i.k, {"fp16": 4, "bf16": 2}[i.a.name]), "rho": "RNE-FP32"}
    if i.arch == "gfx90a":
        return "FTZ-AddMul", {"P": 4 if i.a.name == "fp16" or i.name.endswith("_1k") else 2}
    L = {"tf32": 4, "bf16": 8, "fp16": 8, "e4m3fnuz": 16, "e5m2fnuz": 16}[i.a.name]
    rest: dict[str, str | int] = {"L": min(i.k, L), "F": 24, "F2": 31, "rho": "RNE-FP32", "truncation": "RD"}
    return "GTR-FDPA" if L == 16 else "TR-FDPA", rest


def risc_v(i: golden.Instruction) -> Parameters:
    """Guard bits: the logarithm of the number of products."""
    keys: dict[str, str | int] = {
        "L": i.k,
        "F": 23 + i.k.bit_length() - 1,
        "rho": "RO-FP32",
        "e_zero": -254,
        "truncation": "RO",
    }
    return "T-FDPA", keys


def processor(i: golden.Instruction) -> Parameters:
    if i.c.name == "int32":
        return "IDPA", {"L": 4, "overflow": "saturate" if i.name == "vpdpbusds" else "wrap"}
    if i.name.startswith("tdp"):
        return "FTZ-EO-FMA", {"L": i.k}
    if i.name == "vdpbf16ps":
        return "FTZ-FMA", {"L": 2}
    if i.arch == "riscv-zvbdota":
        return risc_v(i)
    if i.name in ("bfdot", "bfmmla", "bfmopa.za.s.h", "bfmops.za.s.h"):
        return "FMA", {"rho": "RO-FP32", "flush_inputs": True, "flush_results": True}
    if i.arch in ("aarch64", "armv9-sme") and i.k > 1:
        return "E-FDPA", {"L": i.k, "rho": f"RNE-{'FP32' if i.c.name == 'fp32' else 'FP16'}", "zero": "ieee"}
    return "FMA", {"nan": "first"} if i.name == "vfmaddph" else {}


def rule_of(i: golden.Instruction) -> Parameters:
    if i.c.name == "int32" and i.arch.startswith(("gfx", "sm_")):
        return integers(i)
    if i.arch in ("gfx1100", "gfx1151", "gfx1201"):
        return rdna(i)
    if i.arch.startswith("gfx"):
        return amd(i)
    return nvidia(i) if i.arch.startswith("sm_") else processor(i)


def order_of(i: golden.Instruction) -> str:
    """RDNA4 takes two registers of a lane group in turn: k mod 8 below 4 first in wave32; CLAMP has the lower half first."""
    if i.arch != "gfx1201" or not i.name.startswith("v_wmma") or "_w64" in i.name:
        return "in-order"
    if i.c.name == "int32":
        return "eights-of-sixteen" if i.k == 32 and i.name.endswith(".clamp") else "in-order"
    return "fours-of-eight"


@pytest.mark.parametrize("arch", golden.ARCHITECTURES)
def test_parameters_of_every_instruction(arch: str) -> None:
    for i in golden.instructions(arch):
        if i.fp16_order is None:
            named = ("a", "b", "c", "K_block", "scale")
            found = {key: value for key, value in i.operation.parameters().items() if key not in named}
            assert (i.operation.name, found) == rule_of(i), i.name
            assert (i.operation.a, i.operation.b) == (i.a, i.b)
            assert i.chain.operation is i.operation
            assert i.order == order_of(i), i.name
