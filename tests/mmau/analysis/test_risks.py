"""Risky designs by their parameters."""

import golden
from mmau.analysis.risks import ASYMMETRY, INPUT_FTZ, LOW_PRECISION_RHO, SMALL_F, risks


def test_each_rule_follows_its_parameter() -> None:
    safe = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32").operation
    assert risks(safe) == []
    for changes, name in (
        ({"F": 22}, SMALL_F),
        ({"rho": "RNE-FP16"}, LOW_PRECISION_RHO),
        ({"rho": "RZ-E8M13"}, LOW_PRECISION_RHO),
        ({"rho": "RD-FP32"}, ASYMMETRY),
        ({"truncation": "RD"}, ASYMMETRY),
        ({"flush_inputs": True}, INPUT_FTZ),
    ):
        assert [risk.name for risk in risks(safe.changed(**changes))] == [name]
    assert risks(safe.changed(F=23)) == []
    assert risks(safe.changed(a="bf16", b="bf16", flush_inputs=True)) == []
