"""The workload's settings, and what is said where PyTorch is missing: without PyTorch."""

import subprocess
import sys

import pytest

from mmau.explore.accuracy.workload import check_workload, workload_name
from mmau.explore.network.settings import Settings, check


def test_settings_left_out_have_their_defaults() -> None:
    assert check({}) == Settings()
    assert check({"kind": "network", "promote_every": 4, "name": "mine"}) == Settings(promote_every=4)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"promote": 4}, "key of the workload network must be one of promote_every, split_k, steps, batch, tests, rate; got "
                         r"'promote' \(did you mean 'promote_every' or 'rate'\?\)"),
        ({"promote_every": -1}, "promote_every must be an integer from 0 to 1073741824, got -1"),
        ({"split_k": 0}, "split_k must be an integer from 1 to 1073741824, got 0"),
        ({"batch": 1}, "batch must be an integer from 2 to 1048576, got 1"),
        ({"rate": 0}, "rate must be a number above 0 and at most 1, got 0"),
        ({"rate": True}, "rate must be a number above 0 and at most 1, got True"),
        ({"steps": "50"}, "steps must be an integer from 1 to 1048576, got '50'"),
    ],
)  # fmt: skip
def test_wrong_settings_are_errors(table: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        check(table)


def test_space_names_the_workload_by_what_differs() -> None:
    assert workload_name("network") == "network"
    assert workload_name({"kind": "network", "promote_every": 4, "rate": 0.02}) == "network promote_every=4 rate=0_02"
    assert workload_name({"kind": "network", "name": "promoted", "promote_every": 4}) == "promoted"
    assert check_workload({"kind": "network", "steps": 7}).network == Settings(steps=7)
    with pytest.raises(ValueError, match=r"^key of the workload network .* 'promote'"):
        check_workload({"kind": "network", "promote": 4})


WITHOUT = """
import sys
sys.modules["torch"] = None
import mmau.explore.network, mmau.explore.accuracy
from tests.mmau.explore.network.network_units import t_fdpa
try:
    mmau.explore.network.measure(t_fdpa(), mmau.explore.network.Settings(), 0)
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.slow
def test_missing_pytorch_is_an_error_when_it_is_needed() -> None:
    """All of it can be imported, and settings checked, without."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs PyTorch, which is not installed: pip install 'mmau[torch]'\n"
