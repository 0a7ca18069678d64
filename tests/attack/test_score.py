"""The score of the attack counts what passed, and nothing else."""

from tests.attack.score import score


def test_what_is_not_caught_is_counted_and_named() -> None:
    lines = score([
        ("a", "passed", {"attack": "designs", "caught": "refuted"}), ("b", "passed", {"attack": "designs"}),
        ("c", "failed", {"attack": "designs"}), ("d", "skipped", {"attack": "designs"}), ("e", "failed", {}),
        ("f", "passed", {"attack": "faults", "caught": "no effect"}),
    ])  # fmt: skip
    assert lines == [
        "designs: 3 attempted, 1 not tried for lack of a tool, 1 passed; caught: refuted 1, its check 1",
        "faults: 0 attempted, 0 passed; caught: no effect 1",
        "attack: 3 attempted, 2 caught, 1 passed",
        "PASSED: c",
    ]


def test_nothing_attempted_is_said() -> None:
    assert score([]) == ["attack: 0 attempted, 0 caught, 0 passed"]
