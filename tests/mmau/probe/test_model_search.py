"""The search's second round of starts, for units to which the first leads nowhere."""

import pytest

from mmau.probe.model import values_of
from mmau.probe.start_models import starts, varied_starts
from tests.mmau.probe.devices import dut
from tests.mmau.probe.known_units import is_recovered, random_unit


def test_varied_starts_have_every_rounding_and_every_way_to_cut_each_once() -> None:
    shape = dut().shape
    plain, varied = starts("GTR-FDPA", shape), varied_starts("GTR-FDPA", shape)
    assert len({model.keys["rho"] for model in plain}) == 1
    ways = {(rho, cut) for rho in values_of("rho", "GTR-FDPA", shape) for cut in ("RZ", "RD")}
    assert {(model.keys["rho"], model.keys["truncation"]) for model in varied} == ways
    assert len(set(varied)) == len(varied)
    assert set(plain) <= set(varied)
    assert sorted(map(str, varied_starts("FMA", shape))) == sorted(
        map(str, starts("FMA", shape))
    )  # of every rounding already


@pytest.mark.long
def test_a_rounding_to_few_bits_hides_no_family() -> None:
    """A GTR-FDPA of two steps whose results keep 13 bits, as those of a small F do: no start of its own family and length is
    among the best of the first round."""
    assert is_recovered(random_unit(150), vectors=2_000)
