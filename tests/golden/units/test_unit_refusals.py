"""Tables of units that are refused, each with its whole message."""

import re
from typing import Any

import numpy as np
import pytest

import golden
from golden.units.unit_file import unit_from_table
from tests.golden.units.test_units import T_FDPA, TR_FDPA

GST_FDPA = T_FDPA | {"operation": "GST-FDPA", "G": 4, "K_block": 16, "scale": "ue8m0"}
FTZ = {"name": "u", "operation": "FTZ-AddMul", "P": 2, "a": "fp16", "b": "fp16", "c": "fp32"}

RHO = "rho must be a mode (RZ, RNE, RD, RU, RO, RNA) and a format, as RNE-FP32"
T_KEYS = "a, b, c, L, F, rho, e_zero, truncation, sticky, flush_inputs, flush_results, overflow"
FLOATS = ", ".join(name for name, form in golden.FORMATS.items() if form.exp_bits)
KINDS = ", ".join(golden.OPERATIONS)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (T_FDPA | {"L": 0}, ValueError, "L must be an integer from 1 to 1024, got 0"),
        (T_FDPA | {"L": 1025}, ValueError, "L must be an integer from 1 to 1024, got 1025"),
        (T_FDPA | {"L": "16"}, TypeError, "L must be an integer from 1 to 1024, got '16'"),
        (T_FDPA | {"L": 16.0}, TypeError, "L must be an integer from 1 to 1024, got 16.0"),
        (T_FDPA | {"L": True}, TypeError, "L must be an integer from 1 to 1024, got True"),
        (
            T_FDPA | {"implementation": {"stages": 1}, "array": {"rows": 2, "columns": 2, "depth": 3}}, ValueError,
            'depth of an array goes with stationary = "weights" (rows of A that pass them), got 3',
        ),
        (T_FDPA | {"array": {"rows": 2}}, ValueError, "[array] is missing columns; an array of one element has 1 and 1"),
        (
            T_FDPA | {"array": {"rows": 2, "columns": 257}}, ValueError,
            "columns of an array must be an integer from 1 to 256, got 257",
        ),
        (
            T_FDPA | {"array": {"rows": 2, "columns": 2, "feed": "systolc"}}, ValueError,
            "feed must be one of broadcast, systolic; got 'systolc' (did you mean 'systolic'?)",
        ),
        (T_FDPA | {"F": 0}, ValueError, "F must be an integer from 1 to 128, got 0"),
        (T_FDPA | {"F": 129}, ValueError, "F must be an integer from 1 to 128, got 129"),
        (T_FDPA | {"e_zero": -1025}, ValueError, "e_zero must be an integer from -1024 to 1024, got -1025"),
        (
            T_FDPA | {"rho": "RZ-FP23"}, ValueError,
            f"{RHO}; got 'RZ-FP23' (did you mean 'RZ-FP32' or 'RZ-FP16' or 'RU-FP32'?)",
        ),
        (T_FDPA | {"rho": 3}, ValueError, f"{RHO}; got 3"),
        (T_FDPA | {"truncation": "RNE"}, ValueError, "truncation must be one of RZ, RD, RO; got 'RNE'"),
        (T_FDPA | {"a": "xyz"}, ValueError, f"a must be one of {FLOATS}; got 'xyz'"),
        (T_FDPA | {"b": 8}, ValueError, f"b must be one of {FLOATS}; got 8"),
        (T_FDPA | {"c": "ue4m3"}, ValueError, "c must be a format with a sign and without padding, got ue4m3"),
        (T_FDPA | {"c": "tf32"}, ValueError, "c must be a format with a sign and without padding, got tf32"),
        (T_FDPA | {"rho": "RNE-UE4M3"}, ValueError, f"{RHO}; got 'RNE-UE4M3' (did you mean 'RZ-E8M13' or 'RNE-FP32'?)"),
        (
            T_FDPA | {"rho": "RNE-FP32-RZ-BF16"}, ValueError,
            "rho must round once, got RNE-FP32-RZ-BF16, which OC- and PS-FDPA alone have",
        ),
        (
            T_FDPA | {"rho": "RNE-E2M1"}, ValueError,
            "rho must give a format that has a NaN, which a in fp16, b in fp16, c in fp32 may lead to; got RNE-E2M1",
        ),
        (
            T_FDPA | {"a": "e2m1", "b": "e2m3", "c": "e3m2", "rho": "RNE-E2M1"}, ValueError,
            "overflow must be saturate where rho gives e2m1, which has neither infinity nor NaN; got infinity",
        ),
        (T_FDPA | {"G": 4}, ValueError, f"T-FDPA key must be one of {T_KEYS}; got 'G'"),
        (
            T_FDPA | {"truncate": "RZ"}, ValueError,
            f"T-FDPA key must be one of {T_KEYS}; got 'truncate' (did you mean 'truncation'?)",
        ),
        (
            {key: value for key, value in T_FDPA.items() if key not in ("F", "e_zero")}, ValueError,
            f"T-FDPA is missing F, e_zero; its keys are {T_KEYS}",
        ),
        (
            T_FDPA | {"operation": "TFDPA"}, ValueError,
            f"operation must be one of {KINDS}; got 'TFDPA' (did you mean 'T-FDPA' or 'TR-FDPA' or 'ST-FDPA'?)",
        ),
        ({"name": "u"}, ValueError, f"operation must be one of {KINDS}; got None"),
        (T_FDPA | {"name": ""}, ValueError, "key name must be a non-empty string of printable characters, got ''"),
        ({"operation": "T-FDPA"}, ValueError, "key name must be a non-empty string of printable characters, got None"),
        (T_FDPA | {"implementation": 3}, ValueError, "implementation must be a table, got 3"),
        (
            T_FDPA | {"implementation": {"stage": 3}}, ValueError,
            "[implementation] key must be one of accumulator, adder, clock_ns, encoding, leading_zeros, library, max_exp, "
            "multiplier, normaliser, reduction, registers, result_exp, rounder, stages; got 'stage' "
            "(did you mean 'stages'?)",
        ),
        (
            T_FDPA | {"implementation": {"reduction": "carry_save"}}, ValueError,
            "reduction must be one of carry-save, adder-tree; got 'carry_save' (did you mean 'carry-save'?)",
        ),
        (
            T_FDPA | {"implementation": {"max_exp": 3}}, ValueError,
            "max_exp must be one of tree, pairwise; got 3",
        ),
        (
            T_FDPA | {"implementation": {"leading_zeros": "counted"}}, ValueError,
            "leading_zeros must be one of count, anticipate; got 'counted' (did you mean 'count'?)",
        ),
        (
            T_FDPA | {"implementation": {"result_exp": True}}, ValueError,
            "result_exp must be one of serial, parallel; got True",
        ),
        (
            T_FDPA | {"implementation": {"adder": "kogge"}}, ValueError,
            "adder must be one of brent-kung, sklansky, kogge-stone; got 'kogge' (did you mean 'kogge-stone'?)",
        ),
        (
            T_FDPA | {"implementation": {"multiplier": "boothe"}}, ValueError,
            "multiplier must be one of array, carry-save, booth; got 'boothe' (did you mean 'booth'?)",
        ),
        (
            T_FDPA | {"implementation": {"normaliser": "narrow"}}, ValueError,
            "normaliser must be one of whole, narrowing; got 'narrow' (did you mean 'narrowing'?)",
        ),
        (
            T_FDPA | {"implementation": {"rounder": "injection"}}, ValueError,
            "rounder must be one of increment, compound; got 'injection'",
        ),
        (
            T_FDPA | {"implementation": {"accumulator": "kulisch"}}, ValueError,
            "accumulator must be one of aligned, long; got 'kulisch'",
        ),
        (T_FDPA | {"implementation": {"stages": 9}}, ValueError, "stages must be an integer from 0 to 8, got 9"),
        (
            T_FDPA | {"implementation": {"encoding": "bcd"}}, ValueError,
            "encoding must be one of sign-magnitude, ones-complement, twos-complement; got 'bcd'",
        ),
        (GST_FDPA | {"G": 3}, ValueError, "G must divide L; got G=3, L=16"),
        (GST_FDPA | {"K_block": 24}, ValueError, "K_block must divide L or be a multiple of it; got K_block=24, L=16"),
        (GST_FDPA | {"G": 16, "K_block": 8}, ValueError, "G must divide K_block; got G=16, K_block=8"),
        (
            GST_FDPA | {"scale": "fp64"}, ValueError,
            "scale must be a format with fields, at most 32 bits and no padding, got fp64",
        ),
        (TR_FDPA | {"F2": 0}, ValueError, "F2 must be an integer from 1 to 128, got 0"),
        (TR_FDPA | {"c": "bf16"}, ValueError, "c must be one of fp32; got 'bf16'"),
        (FTZ | {"P": 3}, ValueError, "P must be a power of two, got 3"),
        (FTZ | {"b": "bf16"}, ValueError, "FTZ-AddMul takes one format for a and b; got a=fp16, b=bf16"),
        (
            {"name": "u", "operation": "FMA", "a": "fp32", "b": "fp64", "c": "fp32"}, ValueError,
            "FMA takes one format with subnormals for a, b and c, or bf16 for a and b and fp32 for c; "
            'got a=fp32, b=fp64, c=fp32; E-FDPA with L = 1 and zero = "ieee" takes others',
        ),
        (
            {"name": "u", "operation": "MUL", "a": "fp32", "b": "fp16"},
            ValueError,
            "MUL takes one format with subnormals for a and b; got a=fp32, b=fp16",
        ),
        (
            {"name": "u", "operation": "ADD", "a": "fp32", "b": "fp32", "c": "fp32"},
            ValueError,
            "ADD key must be one of a, b, rho, nan, flush_inputs, flush_results, overflow, flags, tininess, beside_nan; "
            "got 'c'",
        ),
    ],
)  # fmt: skip
def test_table_wrong(table: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        unit_from_table(table)


@pytest.mark.parametrize(
    ("keys", "has"),
    [
        ({"operation": "CVT", "a": "fp16", "rho": "RNE-BF16"}, "a"),
        ({"operation": "ADD", "a": "fp16", "b": "fp16"}, "a and b"),
    ],
)
def test_what_adds_to_no_c_has_neither_chains_nor_matrix_products(keys: dict[str, Any], has: str) -> None:
    name, ones = keys["operation"], np.ones((1, 1), np.float16)
    with pytest.raises(ValueError, match=rf"^\[chain\] is for operations that add to c, which {name} does not have$"):
        unit_from_table({"name": "u", "chain": {"add_c": "last"}, **keys})
    with pytest.raises(
        ValueError, match=f"^a matrix product is of operations that multiply a by b and add c; {name} has {has}: "
    ):
        golden.gemm(unit_from_table({"name": "u", **keys}), ones, ones)
