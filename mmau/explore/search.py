"""A search of a space that is too large for all points: NSGA-II, a generation at a time.

Its seed and the results alone determine which points it evaluates: a repeated search asks for the same points, of which
    the store
holds those that were evaluated.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mmau.explore.columns import value_of
from mmau.explore.design_space import Axis, Point, Search, Space, Value
from mmau.explore.records import is_verified

ROUNDS = 50
"""Generations without a new point after which the search has converged."""


def searched(space: Space, search: Search, evaluate: Callable[[Sequence[Point]], list[dict[str, Any]]]) -> None:
    """Evaluate the points that a search asks for, at most `search.points` different ones.

    Args:
        evaluate: the records of points, none of which was evaluated before.

    Raises:
        ModuleNotFoundError: optuna is not installed. ValueError: no point of a whole generation has all objectives.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(population_size=search.population, seed=search.seed)
    directions = [{"min": "minimize", "max": "maximize"}[side] for side in search.objectives.values()]
    study = optuna.create_study(sampler=sampler, directions=directions)
    known: dict[tuple[Value, ...], dict[str, Any]] = {}
    without_new = 0
    while len(known) < min(search.points, space.size) and without_new < ROUNDS:
        trials = [study.ask() for _ in range(search.population)]
        asked = [tuple(_suggested(trial, axis) for axis in space.axes) for trial in trials]
        new = [values for values in dict.fromkeys(asked) if values not in known][: search.points - len(known)]
        without_new = 0 if new else without_new + 1
        known |= zip(new, evaluate([space.point(values) for values in new]), strict=True)
        check_objectives(search, list(known.values()))
        for trial, values in zip(trials, asked, strict=True):
            found = objectives(search, known.get(values))
            if found is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, found)


def objectives(search: Search, record: dict[str, Any] | None) -> list[float] | None:
    """The objectives' values for a point. None where the point is not evaluated or not done, exceeds a limit, has a circuit
    that differs from its model, or lacks a value: a training that diverged has no loss."""
    if record is None or record["status"] != "done" or is_verified(record) is False:
        return None
    found = [value for name in search.objectives if (value := value_of(name, record)) is not None]
    return found if len(found) == len(search.objectives) else None


def check_objectives(search: Search, records: Sequence[dict[str, Any]]) -> None:
    """Raise ValueError where points are done but one objective has no value in any of them, for example because a tool is
    missing."""
    done = [record for record in records if record["status"] == "done"]
    missing = [name for name in search.objectives if all(value_of(name, record) is None for record in done)]
    if done and missing:
        raise ValueError(
            f"a search needs its objectives, and no point has {', '.join(missing)}, as {done[0]['name']}: {_why(done[0])}"
        )


def _why(record: dict[str, Any]) -> str:
    missing = (record.get("cost") or {}).get("missing") or {}
    return "; ".join(f"{column}: {reason}" for column, reason in missing.items()) or "it is not measured"


def _suggested(trial: Any, axis: Axis) -> Value:
    """A value of an axis: numbers in order are near each other, everything else is a choice."""
    numbers = sorted(value for value in axis.values if isinstance(value, int) and not isinstance(value, bool))
    last = len(axis.values) - 1
    if len(numbers) == len(axis.values):
        return numbers[int(trial.suggest_int(axis.key, 0, last))]
    return axis.values[int(trial.suggest_categorical(axis.key, list(range(last + 1))))]
