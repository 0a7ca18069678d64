"""Every solver answers the same plain questions; a missing or unknown one is an error; limited memory is given back."""

import resource

import pytest

from mmau.prove.solvers import installed
from mmau.prove.solvers.installed import MEMORY, PACKAGES, MissingSolver, limited_memory, solver, solver_version

DECLARED = "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n"
SQUARE_IS_17 = f"{DECLARED}(assert (= (bvmul x x) #x11))\n(check-sat)\n"
SQUARE_IS_3 = f"{DECLARED}(assert (= (bvmul x x) #x03))\n(check-sat)\n"

EVERY_SOLVER = pytest.mark.parametrize("name", list(PACKAGES))


@EVERY_SOLVER
def test_solver_finds_values_and_that_there_are_none(name: str) -> None:
    found = solver(name)(SQUARE_IS_17, 20.0)
    assert (found.verdict, found.values["x"] ** 2 % 256) == ("sometimes", 17)
    assert solver(name)(SQUARE_IS_3, 20.0).verdict == "never"


@EVERY_SOLVER
def test_missing_solver_is_an_error_that_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> None:
        raise ModuleNotFoundError(module)

    monkeypatch.setattr(installed, "import_module", absent)
    monkeypatch.setitem(PACKAGES, name, "no-package-has-this-name")
    for asked in (solver, solver_version):
        with pytest.raises(
            MissingSolver, match=rf"^the solver {name} is missing; install it with: pip install 'mmau\[formal\]'$"
        ):
            asked(name)


def test_unknown_solver_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^a solver must be one of bitwuzla, z3, cvc5, got 'minisat'$"):
        solver("minisat")


def test_memory_is_limited_and_given_back() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limited_memory():
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == MEMORY
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    with pytest.raises(ZeroDivisionError), limited_memory():
        1 / 0  # noqa: B018
    assert resource.getrlimit(resource.RLIMIT_AS) == before
