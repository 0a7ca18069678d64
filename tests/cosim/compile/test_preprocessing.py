"""The texts that tools read of a design."""

from cosim.compile.preprocessing import _shown_to_synthesis


def test_what_translate_off_hides_is_left_out() -> None:
    text = 'a // synopsys translate_off\nb "translate_on" /* no */ c\n/* synthesis translate_on */ d "// translate_off" e'
    assert _shown_to_synthesis(text).split() == ["a", "d", '"//', 'translate_off"', "e"]
    assert _shown_to_synthesis("a // pragma translate_off\n b").split() == ["a"]
