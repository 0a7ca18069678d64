"""Mutations of golden's reference: which there are, and what a mutation changes."""

import ast

import pytest

from studies.golden_mutants.judge import reference_modules
from studies.golden_mutants.mutations import Mutation, mutations
from studies.symbolic.model_copy import copied, tree_of

EVERY = {mutation.name: mutation for module in reference_modules() for mutation in mutations(module)}


def test_names_are_distinct() -> None:
    assert sum(len(mutations(module)) for module in reference_modules()) == len(EVERY) > 1000


def test_one_place_changes() -> None:
    mutation = EVERY["steps.add_sticky: `total << below` → `total >> below`"]
    before = ast.unparse(tree_of("golden.arithmetic.steps"))
    after = ast.unparse(mutation.change("golden.arithmetic.steps", tree_of("golden.arithmetic.steps")))
    assert after == before.replace("(total << below)", "(total >> below)") != before
    assert mutation.change("golden.arithmetic.format", tree_of("golden.arithmetic.format")) is tree_of(
        "golden.arithmetic.format"
    )
    assert ast.unparse(tree_of("golden.arithmetic.steps")) == before
    assert copied(mutation.change)["golden.arithmetic.steps"].add_sticky(8, 0, "RZ", 1) == (2, -3)


def test_a_mutation_of_another_source() -> None:
    mutation = EVERY["steps.max_exp: `max` → `min`"]
    other = Mutation(mutation.module, mutation.where, mutation.is_constant, 0, mutation.text, mutation.node)
    with pytest.raises(
        ValueError, match=r"^steps\.max_exp: `max` → `min`: the source of golden\.arithmetic\.steps has changed$"
    ):
        other.change("golden.arithmetic.steps", tree_of("golden.arithmetic.steps"))


def test_messages_annotations_and_checks_are_left_alone() -> None:
    assert not [name for name in EVERY if "raise " in name or "Error" in name]
    assert not [name for name in EVERY if name.startswith(("checks.", "format_fields."))]
