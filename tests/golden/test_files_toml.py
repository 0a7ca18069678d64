"""Reading TOML: bounded size and depth, and one-line errors for every content."""

import re
from pathlib import Path

import pytest

from golden.files import MAX_TOML_BYTES, read_toml


@pytest.mark.attack("inputs without an end, or hostile text")
def test_large_toml_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    path.write_text("# " + "x" * (MAX_TOML_BYTES - 2))
    assert read_toml(path) == {}
    for name in (path, Path("/dev/zero")):
        with path.open("a") as stream:
            stream.write("y")
        message = rf"^{re.escape(str(name))}: must be a TOML file of at most 1048576 bytes, but is larger$"
        with pytest.raises(ValueError, match=message):
            read_toml(name)


@pytest.mark.parametrize(
    "deep", [".".join("a" * 5000) + " = 1", "a = " + "[" * 9 + "]" * 9, "a = " + "{b = " * 8 + "1" + "}" * 8]
)
@pytest.mark.attack("inputs without an end, or hostile text")
def test_deeply_nested_toml_is_refused(deep: str, tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    path.write_text(deep)
    message = rf"^{re.escape(str(path))}: must nest tables and arrays at most 8 deep, but nests them deeper$"
    with pytest.raises(ValueError, match=message):
        read_toml(path)
    path.write_text("a = " + "[" * 7 + "]" * 7)
    assert read_toml(path) == {"a": [[[[[[[]]]]]]]}


@pytest.mark.parametrize("text", ["x = " + "[" * 20000, "x = " + "9" * 5000, "x"], ids=["deep", "long", "no TOML"])
@pytest.mark.attack("inputs without an end, or hostile text")
def test_hostile_toml_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: not a TOML file: "):
        read_toml(path)


def test_byte_order_mark_and_carriage_returns_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "of an editor.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "u"\r\nL = 4\r\n')
    assert read_toml(path) == {"name": "u", "L": 4}


def test_byte_order_mark_elsewhere_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "twice.toml"
    path.write_bytes(b"\xef\xbb\xbf\xef\xbb\xbfL = 4\n")
    with pytest.raises(ValueError, match="not a TOML file"):
        read_toml(path)
