"""Our testbench, in our clock, with MMAU's driver, monitor and scoreboard."""

from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

import golden
from cosim import bench
from rtl import UnitDesign


@cocotb.test()
async def axis_dot4_computes_its_unit(dut):
    classes = Counter()

    def seen(result):
        element = result.vector.elements[0]
        classes[element.products.made_by(element.row)] += 1

    timing = bench.Timing("valid-ready", reset="synchronous")
    pins = bench.fields(dut.s_axis_tdata, a=32, b=32, c=32) | {
        "d": dut.m_axis_tdata,
        "in_valid": dut.s_axis_tvalid,
        "in_ready": dut.s_axis_tready,
        "out_valid": dut.m_axis_tvalid,
        "out_ready": dut.m_axis_tready,
    }
    unit = UnitDesign(golden.load_unit("../unit.toml"))
    board = bench.Scoreboard(bench.specification_of(unit), count=2000, seed=7, on_result=seen, on_mismatch=dut._log.error)
    driver = bench.Driver(pins, timing, board, bench.Stalls("in"), board.vectors())
    monitor = bench.Monitor(pins, timing, board, bench.Stalls("out"))

    Clock(dut.aclk, 10, "ns").start()
    dut.aresetn.value = dut.s_axis_tvalid.value = dut.m_axis_tready.value = 0
    for _ in range(3):
        await FallingEdge(dut.aclk)
    dut.aresetn.value = 1
    while not driver.done or board.waiting:
        await FallingEdge(dut.aclk)
        driver.drive()
        monitor.drive()
        await ReadOnly()
        monitor.sample(driver.sample())
        assert max(driver.waited, monitor.waited) < 1000, "the design is stuck"
    assert not board.failures, board.failures
    assert sum(classes.values()) == 2000
