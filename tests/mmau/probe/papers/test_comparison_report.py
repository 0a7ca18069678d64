"""The report on several devices under test: text, JSON, and a page that stands alone."""

import json

import pytest

from mmau.probe.device_under_test import DeviceUnderTestError
from mmau.probe.papers import FASI, KHATTAK, PAPERS
from mmau.probe.papers.comparison_report import DeviceFeatures, as_dict, features_of, html_of, text_of
from tests.mmau.probe.devices import dies_after, dut
from tests.mmau.probe.papers.altered import operation, tensor_core


@pytest.fixture(scope="module")
def found() -> list[DeviceFeatures]:
    return [features_of(tensor_core()), features_of(dut(operation(F=25), K=8))]


def test_text_has_a_column_for_each_device(found: list[DeviceFeatures]) -> None:
    lines = text_of(found).splitlines()
    assert lines[0] == f"box: fp16 × fp16 + fp32 → fp32, K=16; {found[0].vectors} vectors"
    assert [line.split() for line in lines if line.startswith("n_eab ")] == [["n_eab", "III-C1", "1", "2"]]
    assert "  order of blocks: — because one block over K=8" in lines


def test_json_holds_every_test_with_its_rows(found: list[DeviceFeatures]) -> None:
    duts = json.loads(json.dumps(as_dict(found)))["boxes"]
    assert [list(one["papers"]) for one in duts] == [[paper.key for paper in PAPERS]] * 2
    answer = duts[0]["papers"]["fasi"]["monotonicity"]
    assert answer["answer"] == "violated: 1 + 2^-23 above 1"
    assert len(answer["rows"]) == 2
    assert duts[1]["papers"]["khattak"]["order of blocks"]["answer"] is None


def test_page_stands_alone_and_shows_every_test(found: list[DeviceFeatures]) -> None:
    page = html_of(found)
    assert all(test.name in page for paper in (FASI, KHATTAK) for test in paper.tests)
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert not any(word in page for word in ("http:", "https:", "<script", "<link", "@import", "url("))


def test_few_vectors_are_asked(found: list[DeviceFeatures]) -> None:
    assert [one.vectors for one in found] == [pytest.approx(180, abs=40), pytest.approx(140, abs=40)]


def test_a_device_that_dies_is_one_message() -> None:
    with pytest.raises(
        DeviceUnderTestError, match=r"^box died after \d+ vectors: ConnectionError: no answer from the device$"
    ):
        features_of(dies_after(tensor_core(), 50))
