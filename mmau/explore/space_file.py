"""Reads the file of a design space. An error names each unknown key and each invalid value."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from golden.checks import check_choice, check_int, check_name, listed, unknown
from golden.files import read_toml
from golden.operations import OPERATIONS
from golden.text import value_as_text
from mmau.explore.accuracy import check_workload, with_files, workload_name
from mmau.explore.accuracy.dataset import MAX_ROWS
from mmau.explore.accuracy.modes import MODES, mode_names
from mmau.explore.columns import COST, check_column, described, flat_name, is_cost, misleads, named
from mmau.explore.design_space import (
    AT_LEAST,
    AT_MOST,
    CONTROLS,
    STAGES,
    Accuracy,
    Axis,
    Choice,
    Constraint,
    Cosimulation,
    Estimation,
    Given,
    Question,
    Search,
    Space,
    known_keys,
    reference_of,
    value_or_name,
)
from mmau.explore.space_keys import axes_of, check_distinct, check_keys, flat_keys, number, sub_table, tables_of, texts
from rtl.cost.cost_columns import SAIF_RULE, check_wanted
from rtl.cost.cost_request import CostRequest
from rtl.cost.library_files import SOURCES, check_library

TOP = (
    "name",
    "fixed",
    "array",
    "sweep",
    "constraints",
    "questions",
    "reference",
    "accuracy",
    "cost",
    "cosimulation",
    "proof",
    "strategy",
)

COSIMULATION = ("vectors", "seed")
"""The keys of the table [cosimulation]."""

STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "search": ("objectives", "points", "population", "seed"),
    "estimate": ("objectives", "points", "sample", "seed"),
}
"""The kinds of strategies, each with its keys."""

ROWS = 100_000
"""Default number of rows of a workload."""

VECTORS = 100_000
"""Default number of vectors of a co-simulation."""

MOST = 1 << 40
"""Largest count that a file may ask for."""

MOST_POINTS = 20_000
"""Largest number of points of a space that is not searched; evaluating them takes weeks on one machine."""

MOST_ESTIMATED = 200_000
"""Largest number of points whose costs are estimated; all are held in memory."""

POINTS_OF_ESTIMATES, SAMPLE = 96, 48
"""Points that are measured where costs are estimated, and those of them that come first, where the file does not say."""

POPULATION = 24
"""Points of a generation, where the file does not say."""


def load_space(path: str | Path) -> Space:
    """The space in a file.

    Raises:
        ValueError: no TOML, or a key that is unknown, missing or out of range; the message names key, rule and value.
        OSError: the file cannot be read.
    """
    table = read_toml(path)
    try:
        return space_from_table(table, Path(path).absolute().parent, Path(path).read_text(encoding="utf-8"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def space_from_table(table: Mapping[str, Any], folder: Path, text: str = "") -> Space:
    """The space that a parsed file describes.

    Args:
        folder: where the file is, against which paths in it are meant. text: the file.

    Raises:
        ValueError, TypeError: as `load_space`, without the path.
    """
    if "operation" in table:
        raise ValueError(
            "it describes a unit, not a design space: its keys go into a table [fixed], and those that vary into [sweep]"
        )
    check_keys("", table, TOP)
    check_name("key name", table.get("name"))
    fixed_table, sweep = sub_table("", table, "fixed"), sub_table("", table, "sweep")
    operation = _operation(fixed_table, sweep)
    if "array" in table:
        fixed_table = {**fixed_table, "array": sub_table("", table, "array")}
    fixed = flat_keys("fixed", fixed_table, operation)
    axes = axes_of(sweep, operation)
    swept = [key for axis in axes for key in axis.keys]
    both = [key for key in swept if key in fixed]
    if both:
        raise ValueError(f"a key is either in [fixed] or in [sweep]; {listed(both)} is in both")
    check_distinct("the keys of [sweep]", swept)
    if "implementation.clock_ns" in (*fixed, *swept) and "clock_ns" in sub_table("", table, "cost"):
        raise ValueError(
            "[cost] clock_ns and clock_ns of the implementation are one clock: with the latter, leave the former out"
        )
    accuracy = _accuracy(table, folder)
    workloads = [] if accuracy is None else list(accuracy.workloads)
    workloads += [f"{name}.{MODES}.{mode}" for name in workloads for mode in _modes(fixed, axes)]
    references = texts("[reference] instructions", _reference(table).get("instructions", []))
    for name in references:
        reference_of(name)
    constraints = constraints_of(sub_table("", table, "constraints"), operation, workloads, swept)
    questions = tuple(
        _question(name, sub_table("questions", sub_table("", table, "questions"), name), operation, workloads, axes)
        for name in sub_table("", table, "questions")
    )
    strategy = _strategy(table, workloads, axes, swept)
    space = Space(
        name=table["name"],
        fixed=fixed,
        axes=axes,
        constraints=constraints,
        questions=questions,
        references=references,
        accuracy=accuracy,
        cost=_cost(table, folder),
        cosimulation=_cosimulation(table),
        proof_seconds=_seconds(sub_table("", table, "proof").get("seconds")),
        strategy=strategy,
        text=text,
    )
    _check_size(space)
    _check_words(space)
    return replace(space, warnings=tuple(filter(None, (misleads(column, swept) for column in space.asked.columns))))


MOST_TRIED = 200
"""Points that are tried for a value of [sweep] before it counts as one that no unit takes."""


def _check_words(space: Space) -> None:
    """Raise ValueError where no unit takes a text or a table of [sweep], but takes others in its place: it is misspelt, or
    goes with nothing else there.

    A number may be out of range with some units, or all: such points are invalid one by one.
    """
    _check_library("[fixed.implementation] library", str(space.fixed.get(LIBRARY, "")))
    for place, axis in enumerate(space.axes):
        where = f"[sweep] {axis.key}"
        for value in axis.values:
            _check_library(f"{where}: {value_as_text(value)}", str(axis.set(value).get(LIBRARY, "")))
        words = [value for value in axis.values if isinstance(value, (str, Choice))]
        why = {str(value): _why_no_unit(space, place, value) for value in words}
        if not all(why.values()) or len(words) < len(axis.values):
            for value, message in why.items():
                if message:
                    raise ValueError(f"{where}: no point with {value} is a unit: {message}")


def _why_no_unit(space: Space, place: int, value: str | Choice) -> str:
    """Why no point that is tried with a value of an axis is a unit; empty where one is."""
    message = ""
    count = min(space.size // len(space.axes[place].values), MOST_TRIED)
    for each in range(count):
        values = [*space.values(each * space.size // count)]
        values[place] = value
        point = space.point(tuple(values))
        if point.unit is not None:
            return ""
        message = message or point.message
    return message


LIBRARY = "implementation.library"
"""The flat key of a unit's cell library."""


def _check_library(where: str, library: str) -> None:
    """Raise ValueError unless a cell library, where a value names one, is known or is there."""
    try:
        if library:
            check_library(library)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _modes(fixed: Mapping[str, Given], axes: Sequence[Axis]) -> list[str]:
    """The names of the modes that the controls of the space choose."""
    given = [fixed.get(CONTROLS), *(axis.set(value).get(CONTROLS) for axis in axes for value in axis.values)]
    found = (mode_names(controls) for controls in given if isinstance(controls, tuple))
    return list(dict.fromkeys(name for names in found for name in names))


def _check_size(space: Space) -> None:
    if space.accuracy is None and space.cost is None and space.cosimulation is None:
        raise ValueError("nothing is requested: a space needs [accuracy], [cost], [cosimulation] or [proof]")
    if space.strategy is None and space.size > MOST_POINTS:
        raise ValueError(
            f"a space whose points are all evaluated must have at most {MOST_POINTS:,}, got {space.size:,}: "
            'sweep less, or evaluate some of them: [strategy] kind = "search" or "estimate"'
        )
    if isinstance(space.strategy, Estimation):
        if space.size > MOST_ESTIMATED:
            raise ValueError(
                f"a space whose costs are estimated must have at most {MOST_ESTIMATED:,} points, got {space.size:,}: sweep "
                'less, or let a search choose: [strategy] kind = "search"'
            )
        if space.cost is None:
            raise ValueError('[strategy] kind = "estimate" needs costs, and the file has cost = false')


def _operation(fixed: Mapping[str, Any], sweep: Mapping[str, Any]) -> str | None:
    """The operation of all units; None where it is swept."""
    if "operation" not in fixed:
        if "operation" in sweep or any("operation" in each for given in sweep.values() for each in tables_of(given)):
            return None
        raise ValueError(f"[fixed] must name the operation, or [sweep] several; it is one of {listed(OPERATIONS)}")
    check_choice("[fixed] operation", fixed["operation"], OPERATIONS)
    return str(fixed["operation"])


def _reference(table: Mapping[str, Any]) -> dict[str, Any]:
    return sub_table("", table, "reference", ("instructions",))


def _accuracy(table: Mapping[str, Any], folder: Path) -> Accuracy | None:
    if "accuracy" not in table:
        return None
    given = sub_table("", table, "accuracy", ("workloads", "rows", "seed"))
    workloads = given.get("workloads")
    if not isinstance(workloads, list) or not workloads:
        raise ValueError(f"[accuracy] workloads must be a list of at least one workload, got {workloads!r}")
    found: dict[str, str | Mapping[str, Any]] = {}
    for workload in workloads:
        try:
            named = with_files(workload, folder)
            name = workload_name(named)
        except (TypeError, ValueError, OSError) as error:
            raise ValueError(f"[accuracy] workloads: {error}") from error
        if name in found:
            raise ValueError(f"[accuracy] workloads must have distinct names, got {name} twice")
        found[name] = named
    rows = _count("[accuracy] rows", given.get("rows", ROWS), 1, MAX_ROWS)
    return Accuracy(found, rows, _count("[accuracy] seed", given.get("seed", 0), 0))


def _cost(table: Mapping[str, Any], folder: Path) -> dict[str, Any] | None:
    """The requested costs: the usual columns by default, none with `cost = false`."""
    if table.get("cost") is False:
        return None
    wanted = sub_table("", table, "cost")
    library = wanted.get("library")
    if isinstance(library, str) and library not in SOURCES:
        wanted = {**wanted, "library": str(folder / library)}
    activity = wanted.get("activity")
    try:
        if isinstance(activity, (str, dict)):
            wanted["activity"] = rows_of_cost(activity, folder)
            check_wanted({key: value for key, value in wanted.items() if key != "activity"})
        else:
            check_wanted(wanted)
            if wanted.get("saif"):
                raise ValueError(
                    f"{SAIF_RULE}, got activity = {value_as_text(wanted.get('activity', CostRequest.activity))}"
                )
    except (TypeError, ValueError, OSError) as error:
        raise ValueError(f"[cost] {error}") from error
    return wanted


def rows_of_cost(given: str | dict[str, Any], folder: Path) -> dict[str, Any]:
    """The rows of operands that a circuit computes while its power is measured: a workload, as a text or in a table with the
    keys of `ACTIVITY`.

    Raises:
        ValueError, TypeError, OSError: no such workload, one without operands, or a key that is unknown or out of range.
    """
    table: dict[str, Any] = {"workload": given} if isinstance(given, str) else dict(given)
    check_keys("activity: ", table, ACTIVITY)
    if "workload" not in table:
        raise ValueError("activity must be a number, a workload, or a table with the key workload")
    workload = with_files(table["workload"], folder)
    checked = check_workload(workload)
    if checked.network is not None or checked.kind in ("properties", "chain", "tensors", "file"):
        raise ValueError(f"activity takes a workload whose rows are steps of any unit, and {checked.name} is none")
    check_int("activity: rows", table.get("rows", ROWS_OF_COST), 2, MAX_ROWS_OF_COST)
    check_int("activity: hold_b", table.get("hold_b", 1), 1, MAX_ROWS_OF_COST)
    number("activity: zeros", table.get("zeros", 0.0), 0.0, 1.0)
    return {"rows": ROWS_OF_COST, "hold_b": 1, "zeros": 0.0, **table, "workload": workload}


ACTIVITY = ("workload", "rows", "hold_b", "zeros")
"""Keys of the rows that a circuit computes while its power is measured: the workload, how many rows, for how many of them b
stays (weights that are held), and the share of a's elements that become +0."""

ROWS_OF_COST, MAX_ROWS_OF_COST = 1000, 20_000
"""Rows by default, and at most."""


def _cosimulation(table: Mapping[str, Any]) -> Cosimulation | None:
    """The co-simulation request; a datapath to be proved is co-simulated too. [proof] may hold `vectors` and `seed` too."""
    if "cosimulation" not in table and "proof" not in table:
        return None
    proof = sub_table("", table, "proof", ("seconds", *COSIMULATION))
    given = sub_table("", table, "cosimulation", COSIMULATION)
    where = "cosimulation"
    if any(key in proof for key in COSIMULATION):
        if "cosimulation" in table:
            both = listed(key for key in COSIMULATION if key in proof)
            raise ValueError(f"[proof] {both} must stand in [cosimulation], where the file has that table")
        given, where = proof, "proof"
    vectors = _count(f"[{where}] vectors", given.get("vectors", VECTORS), 1)
    return Cosimulation(vectors, _count(f"[{where}] seed", given.get("seed", 0), 0))


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < inf:  # NaN is not either
        raise ValueError(f"[proof] seconds must be a number above 0, the limit for the proof of a point, got {value!r}")
    return float(value)


def _strategy(
    table: Mapping[str, Any], workloads: list[str], axes: tuple[Axis, ...], swept: Collection[str]
) -> Search | Estimation | None:
    given = sub_table("", table, "strategy", ("kind", *dict.fromkeys(key for keys in STRATEGIES.values() for key in keys)))
    kind = given.get("kind", "all")
    check_choice("[strategy] kind", kind, tuple(STRATEGIES))
    further = [key for key in given if key not in ("kind", *STRATEGIES[kind])]
    if further:
        others = [f'"{name}"' for name, keys in STRATEGIES.items() if set(further) <= {*keys}]
        why = "; with it every point is evaluated" if kind == "all" else ""
        raise ValueError(f'[strategy] {listed(further)} goes with kind = {" or ".join(others)}, not with "{kind}"{why}')
    if kind == "all":
        return None
    what = "a search" if kind == "search" else "an estimate"
    if not axes:
        raise ValueError(f"[strategy] {what} needs a key to sweep, and [sweep] has none")
    objectives = {named(name, swept): side for name, side in sub_table("strategy", given, "objectives").items()}
    if not objectives:
        raise ValueError(f'[strategy] {what} needs objectives, like {{area_um2 = "min"}}, and has none')
    for name, side in objectives.items():
        check_column("[strategy] objectives:", name, workloads)
        check_choice(f"[strategy] objectives: {name}", side, ("min", "max"))
    seed = _count("[strategy] seed", given.get("seed", 0), 0)
    if kind == "estimate":
        if not any(is_cost(name) for name in objectives):
            raise ValueError(f"[strategy] an estimate needs a cost among its objectives, got {listed(objectives)}")
        points = _count("[strategy] points", given.get("points", POINTS_OF_ESTIMATES), 2, MOST_POINTS)
        sample = _count("[strategy] sample", given.get("sample", min(SAMPLE, points)), 2, points)
        return Estimation(objectives, points, sample, seed)
    if "points" not in given:
        raise ValueError("[strategy] a search needs points, the number that it may evaluate, and it is missing")
    population = _count("[strategy] population", given.get("population", POPULATION), 2)
    points = _count("[strategy] points", given["points"], 1)
    return Search(objectives, points, population, seed)


def _count(where: str, value: Any, least: int, most: int = MOST) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{where} must be an integer from {least} to {most}, got {value!r}")
    return value


def _question(
    name: str, table: Mapping[str, Any], operation: str | None, workloads: Sequence[str], axes: Sequence[Axis]
) -> Question:
    """The question of a table [questions.NAME]: `best`, a column; `where`, values of swept keys; and limits."""
    place, swept = f"questions.{name}", [key for axis in axes for key in axis.keys]
    best = table.get("best")
    if best is not None:
        best = named(str(best), swept)
        check_column(f"[{place}] best:", best, workloads)
        if described(flat_name(best), True).better not in ("low", "high"):
            raise ValueError(f"[{place}] best must be a column whose least or largest value is the best, got {best!r}")
    where = sub_table(place, table, "where", [axis.label for axis in axes])
    for axis in axes:
        if axis.label in where:
            known = [*map(value_or_name, axis.values)]
            if where[axis.label] not in known:
                raise ValueError(f"[{place}.where] {unknown(axis.label, where[axis.label], list(map(str, known)))}")
    limits = {key: value for key, value in table.items() if key not in ("best", "where")}
    return Question(name, best, constraints_of(limits, operation, workloads, swept, place), where)


def constraints_of(
    table: Mapping[str, Any],
    operation: str | None,
    workloads: Sequence[str],
    swept: Collection[str] = (),
    place: str = "constraints",
) -> tuple[Constraint, ...]:
    """The limits of a table, [constraints] or that of a question.

    Args:
        place: the name of the table.
        operation: the operation of all units; None where it is swept. workloads: the names of the workloads that are
            measured. swept: the keys of the unit that vary.

    Raises:
        ValueError: an unknown column, or no number.
    """
    numbers = [key for key in known_keys(operation) if key[0].isupper() or key == "e_zero"]
    found = []
    for key, value in table.items():
        where, column = f"[{place}] {key}", named(key[len(AT_LEAST) :], swept)
        if not key.startswith((AT_LEAST, AT_MOST)):
            known = [f"{side}{name}" for side in (AT_MOST, AT_LEAST) for name in (*numbers, STAGES, *COST)]
            raise ValueError(f"[{place}] {unknown('key', key, known, shown=len(known))}")
        limit = number(where, value)
        if column in numbers or column == STAGES:
            parameter = f"implementation.{STAGES}" if column == STAGES else column
            found.append(Constraint(key, column, limit, parameter))
            continue
        if not column.startswith(("cost.", "accuracy.")) and column not in COST:
            raise ValueError(f"{where}: {unknown('what is limited', column, [*numbers, STAGES, *COST], shown=64)}")
        check_column(f"{where}:", column, workloads)
        found.append(Constraint(key, column, limit, None))
    return tuple(found)
