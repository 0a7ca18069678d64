"""The page of public tests: its facts are complete, and it is what its program writes."""

import pytest

from mmau.testing.tolerance_audit import PASSES, RIGHT
from studies.public_tests.__main__ import KERNELS, page
from studies.public_tests.audited_tests import public_tests
from tests.docs.documents import ROOT

pytestmark = pytest.mark.slow


def test_page_is_that_of_its_facts() -> None:
    tests = public_tests()
    assert len(tests) == 8
    audits = [(test.facts, test.audited()) for test in tests]
    for facts, found in audits:
        assert facts["link"].startswith("https://github.com/")
        assert found.outcomes[RIGHT] == PASSES, "a right kernel must pass a transcribed test"
        assert set(found.outcomes) <= {RIGHT, *KERNELS}
    passed = {facts["name"]: found.passed for facts, found in audits}
    assert "zero output" in passed["onnxruntime#31155"]
    assert "zero output" in passed["flashinfer#4685"]
    assert all("F - 1" in names for names in passed.values())
    assert (ROOT / "docs/evidence/public-tests.md").read_text(encoding="utf-8") == page(audits), "run make public-tests"
