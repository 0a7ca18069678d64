"""Table 10 of paper 000: designs that put accuracy at risk, found from an operation's parameters alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from golden.chain import Chain
from golden.formats import FP32
from golden.operations import FTZAddMul, Operation
from golden.operations.fused import FusedOperation
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.oc_fdpa import OCFDPA
from golden.operations.ps_fdpa import PSFDPA
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA

INPUT_FTZ = "input FTZ"
SMALL_F = "small F"
LOW_PRECISION_RHO = "ρ below FP32"
ASYMMETRY = "asymmetry"

RISKS: Mapping[str, str] = {
    INPUT_FTZ: "subnormal operands count as zeros, in a format whose smallest normal number lies above that of FP32",
    SMALL_F: "the fused summation keeps fewer fraction bits than FP32 has",
    LOW_PRECISION_RHO: "the output conversion keeps fewer fraction bits than FP32 has",
    ASYMMETRY: "terms, or the sum, are rounded in a direction that depends on the sign: RD or RU, or the "
    "one's complement of a step that begins from a zero, which is +0 whatever the signs of the products before",
}
"""Each risk with its rule."""


@dataclass(frozen=True)
class Risk:
    """A risky design of an operation: which, and by which parameter."""

    name: str
    parameter: str


def risks(operation: Operation) -> list[Risk]:
    """The risky designs of an operation, from its parameters."""
    found = []
    flushes = isinstance(operation, FTZAddMul) or (isinstance(operation, FusedOperation) and operation.flush_inputs)
    if isinstance(operation, HeadroomFDPA):  # which keeps such subnormals
        flushes = False
    if flushes and max(operation.a.e_min, operation.b.e_min) > FP32.e_min:
        found.append(Risk(INPUT_FTZ, f"{operation.name} of {operation.a}"))
    if isinstance(operation, (TruncatedFDPA, RoundedFDPA)):
        if FP32.man_bits > operation.F:
            found.append(Risk(SMALL_F, f"F = {operation.F}"))
        if operation.truncation == "RD":
            found.append(Risk(ASYMMETRY, "truncation = RD"))
    if isinstance(operation, HeadroomFDPA) and FP32.man_bits > operation.F - operation.h:
        found.append(Risk(SMALL_F, f"F = {operation.F}, h = {operation.h}"))
    if isinstance(operation, PSFDPA):
        found.append(Risk(ASYMMETRY, f"{operation.name} rounds down"))
    if isinstance(operation, FusedOperation):
        rho = operation.conversion
        if min(rho.rounding_format.man_bits, rho.d.man_bits) < FP32.man_bits:
            found.append(Risk(LOW_PRECISION_RHO, f"ρ = {rho.name}"))
        if rho.mode in ("RD", "RU"):
            found.append(Risk(ASYMMETRY, f"ρ = {rho.name}"))
    return found


def risks_of_chain(chain: Chain, K: int) -> list[Risk]:
    """Those of the operation that the chain runs, a converted chain's operands are fp16 by then, and of its steps."""
    operation = chain.operation
    found = risks(operation)
    if isinstance(operation, OCFDPA) and K > operation.L:
        found.append(Risk(ASYMMETRY, f"{operation.name} in {K // operation.L} steps"))
    return found
