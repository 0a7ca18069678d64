"""The design against its unit, by MMAU's fixture: `pytest` in this folder runs it."""


def test_axis_dot4(mmau_cosim):
    report = mmau_cosim("dut.toml", unit="unit.toml", vectors=2000)
    assert report.passed
