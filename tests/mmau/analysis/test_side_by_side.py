"""One input on many units."""

import pytest

import golden
from golden.trace import Sum
from mmau.analysis.side_by_side import Input, compare

VOLTA = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
NVFP4 = next(i for i in golden.instructions("sm_120") if i.scale is not None and i.operation.name == "GST-FDPA")


def test_instructions_that_cannot_take_the_input_are_named_with_the_reason() -> None:
    found = compare(Input((1.0,) * 5, (1.0,) * 5, 2.0**20), [VOLTA])
    assert found.results == ()
    assert found.left_out == {"which take fewer than 5 products": ("sm_70 mma.m8n8k4.f32.f16.f16.f32",)}
    fine = compare(Input((2.0**-30,), (1.0,), 0.0), [VOLTA])
    assert list(fine.left_out) == ["whose formats do not hold the numbers"]
    scaled = compare(Input((1.0,), (1.0,), 0.0, (2.0,)), [VOLTA, NVFP4])
    assert list(scaled.left_out) == ["which take no scales"]
    assert [r.value for r in scaled.results] == [2.0]


def test_losses_are_what_the_exact_result_lacks() -> None:
    """Terms' losses and the rounding's add up to the error, exactly."""
    given = Input((-(2.0**13), -0.5, -0.25, 2.0**-10), (2.0**10, 1.0, 1.0, 1.0), 2.0**23 + 1)
    result = compare(given, [VOLTA]).results[0]
    cut = sum(t.cut.value for part in result.trace.steps[0].parts if isinstance(part, Sum) for t in part.terms)
    assert given.exact() == VOLTA.d.value(result.trace.d) + cut  # type: ignore[operator]
    assert result.losses == ("a[1]·b[1]: -1·2^-1", "a[2]·b[2]: -1·2^-2", "a[3]·b[3]: +1·2^-10")


@pytest.mark.parametrize("given", [Input((float("inf"),), (0.0,), 1.0), Input((-0.0,), (1.0,), -0.0)])
def test_special_values_are_compared_too(given: Input) -> None:
    found = compare(given, [VOLTA])
    assert len(found.results) == 1


def test_text_and_page_have_every_result_with_its_trace() -> None:
    found = compare(Input((1.0,), (2.0**-24,), 1.0), [VOLTA, golden.instruction("gfx908", "v_mfma_f32_16x16x16f16")])
    text, page = found.text(traces=True), found.html()
    for result in found.results:
        assert result.instruction.name in text
        assert result.trace.text().rstrip() in text
        assert result.trace.html_body(below=1) in page
    assert [entry["trace"]["model"] for entry in found.as_dict()["results"]] == [r.trace.model for r in found.results]
    assert "http" not in page
