"""Promises of a text to synthesis."""

from cosim.lint.complaints import cases_of_one, promises, strengths, switches_of_assertions


def test_promises_to_synthesis_are_found_outside_strings() -> None:
    text = 'unique  if (a) x = 1; unique0 if (b) x = 2; case (c) /*verilator full_case*/ (* parallel_case *) "unique if"'
    assert promises(text) == ["unique  if", "unique0 if", "full_case", "parallel_case"]
    assert promises("unique case (a) full_cases; if (unique_if) x = 1;") == []


def test_strengths_and_switches_are_words_outside_strings() -> None:
    assert strengths('wire wor_a; supply0 gnd; bufif1 (d, r, e); "wand"') == ["supply0", "bufif1"]
    assert cases_of_one("unique  casez ( 1'b1 ) unique case (a) case (1'b1) unique0 case('1)") == [
        "unique  casez ( 1'b1 )",
        "unique0 case('1)",
    ]
    assert switches_of_assertions('$assertoff; $assertfailoff(0); "$assertkill" $asserting; assert (a);') == [
        "$assertoff", "$assertfailoff"
    ]  # fmt: skip
