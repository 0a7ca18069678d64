"""Work functions of `mmau.prove.deadline`: a proof or a comparison, from plain JSON to plain JSON."""

import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cosim import Dut, load_dut
from cosim.build.errors import SimulationError
from cosim.dut.tool_log import ElaborationError
from golden import Operation
from golden.files import temporary_folder
from golden.units.unit_file import unit_from_table
from mmau.jobs import Store, engine_for
from mmau.jobs.processes import WorkerError
from mmau.prove.deadline import Refused, Report, killable
from mmau.prove.decision import UserDesignDecision
from mmau.prove.design_proof import prove
from mmau.prove.equality import equality
from mmau.prove.user_design.asking import KEPT, Answers, directly
from mmau.prove.user_design.proof import decided_by_solvers
from mmau.prove.user_design.samples import sampled
from rtl.designs.identity import design_from_table
from rtl.tools import MissingTool
from rtl.yosys import YosysError

WRONG = (ElaborationError, SimulationError, MissingTool, YosysError, WorkerError, ValueError, OSError)
"""Errors of the request or of a tool, whose message is enough."""


@killable
def prove_design(content: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The keys of a `DesignDecision`, from a design's table and `seconds`."""
    try:
        return asdict(prove(design_from_table(content["design"]), content["seconds"], report))
    except WRONG as error:
        raise Refused(error) from error


@killable
def prove_dut(content: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The keys of a `UserDesignDecision`, from a unit's text, the path of a description, `seconds`, the folder of a store of
    answers or None, and the number of processes and the address of a cluster that answer at once, or None."""
    try:
        with ExitStack() as stack:
            unit, folder = unit_from_table(tomllib.loads(content["unit"])), content["store"]
            engine = engine_for(content["scheduler"], content["jobs"]) if content["scheduler"] or content["jobs"] else None
            if folder is None and engine is not None:
                folder = stack.enter_context(temporary_folder("mmau-answers-"))
            answers = directly if folder is None else Answers(stack.enter_context(Store(Path(folder), KEPT)), engine)
            return asdict(decided_by_solvers(unit, _dut(content), content["seconds"], report, answers))
    except WRONG as error:
        raise Refused(error) from error


def _dut(content: Mapping[str, Any]) -> Dut:
    dut = load_dut(Path(content["dut"]))
    return replace(dut, verilator_args=(*dut.verilator_args, *(f"-Wno-{code}" for code in content["waived"])))


@killable
def simulate_samples(content: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The keys of a `UserDesignDecision` after sample vectors, from those before, a unit's text and a description's path."""
    unit, dut = unit_from_table(tomllib.loads(content["unit"])), _dut(content)
    try:
        return asdict(sampled(unit, dut, UserDesignDecision.of(content["decision"])))
    except WRONG as error:
        raise Refused(error) from error


@killable
def compare(content: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The keys of an `Equality`, from two chains and `seconds`."""
    return asdict(equality(_steps(content["x"]), _steps(content["y"]), content["seconds"]))


def _steps(chain: Mapping[str, Any]) -> list[Operation]:
    """The steps of a chain: the text of a unit with its first step, and their number."""
    operation: Operation = unit_from_table(tomllib.loads(chain["unit"])).operation
    return [operation, *([operation.accumulating()] * (chain["steps"] - 1) if chain["steps"] > 1 else [])]
