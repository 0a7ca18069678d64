"""Proof of step multiply, and of c as a term: the claims in addition to equality with `specification.steps.multiply`."""

from collections.abc import Mapping

from bitwuzla import Term

from mmau.prove.datapath.ranges import implied, in_range
from mmau.prove.specification.step_results import Special
from mmau.prove.specification.step_results import Term as Addend


def ports(name: str, term: Addend) -> Mapping[str, str]:
    """The component's ports for the parts of a term."""
    prefix = "prod" if name.startswith("multiply") else "term"
    return {part: f"{name}.{prefix}__{part}" for part, _ in term.parts()}


def special_ports(name: str, special: Special, special_name: str) -> Mapping[str, str]:
    """The ports for a term's flags; `special_name` is empty if the same component computes them."""
    flags = f"{special_name}.result__{{}}" if special_name else f"{name}.special__{{}}"
    return {part: flags.format(part) for part, _ in special.parts()}


def claims(term: Addend, special: Special) -> list[Term]:
    """The formulas that later steps rely on: the numbers lie within their bounds if no flag is set."""
    return [implied(special.finite, each) for each in in_range(term)]
