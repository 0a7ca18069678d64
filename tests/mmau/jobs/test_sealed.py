"""Sealed tables: read back as written, and refused where they were changed."""

import json

import pytest

from mmau.jobs.store import sealed, unsealed


def test_a_sealed_table_is_read_back() -> None:
    table = {"rows": [{"name": "×", "count": 1}, {}], "empty": [], "number": 1.5}
    assert unsealed(sealed(table)) == table
    assert len(sealed(table).splitlines()) == 9


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"count": 1', '"count": 2'),
        lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != "digest"}),
        lambda text: json.dumps(json.loads(text) | {"more": True}),
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: '{"digest": 1e999}',
        lambda text: '{"digest": "", "number": NaN}',
        lambda text: "\x00",
    ],
)
def test_a_table_that_was_changed_is_refused(spoil: object) -> None:
    text = spoil(sealed({"rows": [{"count": 1}]}))  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"^it(s content does not match its digest| is no outcome)"):
        unsealed(text)
