"""Text from outside: what it does to a terminal, and how long it is."""

from golden.text import printable, shortened


def test_control_characters_are_shown_and_take_no_effect() -> None:
    assert printable("a\x1b]0;title\x07\x9b2J\r\u202eb\tc\nd é") == "a\\x1b]0;title\\x07\\x9b2J\\r\\u202eb\tc\nd é"


def test_long_text_keeps_its_ends() -> None:
    assert shortened("x" * 300) == "x" * 300
    assert shortened("a" * 5000 + "b" * 5000) == f"{'a' * 225} … (9,700 more characters) … {'b' * 75}"
