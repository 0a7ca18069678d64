"""The arguments with which Verilator compiles every design, for cocotb and for native code alike."""

from cosim.compile.sources import Sources

VERILATOR_ARGUMENTS = (
    "-O3",
    "--x-assign", "unique", "--x-initial", "unique",  # registers start as the run says, see `power_ups`
    "-Wno-fatal",  # lint is not this program's business
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are looked at, so everything else may be optimised away
    "--output-split", "10000000",  # one C++ file: several would want precompiled headers, which g++ does not find
    "-CFLAGS", "--param=max-combine-insns=2",  # g++ takes a minute where it tries to combine the terms of a wide sum by four
)  # fmt: skip

COVERAGE_ARGUMENTS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", str(1 << 20))
"""Further ones of a design whose coverage is wanted: of wide signals too, which operands packed into one are."""

TIMESCALE = ("1ns", "1ps")


def runtime_arguments(sources: Sources) -> list[str]:
    """Arguments of a design on which Verilator's runtime library may depend: all but warnings and assertions."""
    return [each for each in sources.verilator_args if not each.startswith(("-W", "--assert", "--no-assert", "--noassert"))]
