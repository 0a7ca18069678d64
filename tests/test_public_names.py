"""Packages whose names are imported when they are asked for: every public name is there, and no other."""

import importlib

import pytest


@pytest.mark.parametrize("package", ["rtl", "cosim"])
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert len([getattr(module, name) for name in module.__all__]) == len(module.__all__) > 0


@pytest.mark.parametrize("package", ["rtl", "cosim"])
def test_other_names_are_no_attributes(package: str) -> None:
    with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'no_such_name'$"):
        importlib.import_module(package).no_such_name  # noqa: B018
