"""Verilator's arguments for every design, the same for cocotb and for native code."""

import shlex
import sys

from cosim.build.runtime import INCLUDE_FIRST
from cosim.build.sources import Sources

VERILATOR_ARGUMENTS = (
    "-O3",
    "-Wno-fatal",  # lint warnings are not errors here
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are accessed, so all other signals may be optimised away
    "--output-split", "10000000",  # one C++ file: several need precompiled headers, which g++ does not find
    "-CFLAGS", "--param=max-combine-insns=2",  # g++ takes a minute to combine the terms of a wide sum by four
    "-CFLAGS", INCLUDE_FIRST,
)  # fmt: skip

LAST_ARGUMENTS = (
    "--x-assign", "unique", "--x-initial", "unique",  # the run chooses what registers hold at power-up, see `power_ups`
    # $error and $fatal end an elaboration; Verilator only warns of them, and "-Werror" undoes no "-Wno"
    "-Wwarn-USERERROR", "-Werror-USERERROR", "-Wwarn-USERFATAL", "-Werror-USERFATAL",
)  # fmt: skip
"""These come last: no option of a design undoes them."""

COVERAGE_ARGUMENTS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", str(1 << 20))
"""Further arguments for coverage, also of wide signals, such as packed operands."""

TIMESCALE = ("1ns", "1ps")

MAKE_ARGUMENTS = ("PYTHON3=" + shlex.quote(sys.executable).replace("$", "$$"),)
"""Arguments for make: Verilator's makefile calls `python`, which many systems lack, or one from its maker's machine."""


def runtime_arguments(sources: Sources) -> list[str]:
    """The arguments of a design on which Verilator's runtime library may depend: all but warnings and assertions."""
    return [each for each in sources.verilator_args if not each.startswith(("-W", "--assert", "--no-assert", "--noassert"))]
