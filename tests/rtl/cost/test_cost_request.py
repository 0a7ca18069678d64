"""The costs that can be requested, and those that cannot."""

import re
from typing import Any

import pytest

from rtl.cost.cost_columns import check_wanted
from rtl.cost.cost_request import CostRequest


def test_table_says_what_differs_from_the_defaults() -> None:
    assert CostRequest.from_table({"clock_ns": 5, "fpga": ["ecp5"]}) == CostRequest(clock_ns=5, fpga=("ecp5",))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"clock": 1}, "a key of the table of cost must be one of clock_ns, activity, library, stages, fpga, "),
        ({"clock_ns": 0}, "clock_ns must be a number from 0.001 to 1e+06, got 0"),
        ({"clock_ns": "5"}, "clock_ns must be a number from 0.001 to 1e+06, got '5'"),
        ({"clock_ns": float("nan")}, "clock_ns must be a number from 0.001 to 1e+06, got nan"),
        ({"activity": True}, "activity must be a number from 0.001 to 2, got True"),
        ({"activity": 0}, "activity must be a number from 0.001 to 2, got 0"),
        ({"library": "osu050"}, "library must be osu018, osu035 or the path of a Liberty file, NAME.lib; got 'osu050'"),
        ({"stages": 3}, "stages must be True or False, got 3"),
        ({"fpga": "ecp5"}, "fpga must be a list of parts, got 'ecp5'"),
        ({"fpga": 5}, "fpga must be a list of parts, got 5"),
        ({"fpga": ["xc7"]}, "fpga must be one of ecp5, ice40; got 'xc7'"),
        ({"vectors": 0}, "vectors must be an integer from 4 to 100000, got 0"),
        ({"vectors": 1.5}, "vectors must be an integer from 4 to 100000, got 1.5"),
        ({"limit": 0}, "limit must be a number from 0.1 to 1e+06, got 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        check_wanted(table)
