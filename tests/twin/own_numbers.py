"""Formats of a unit's own in the twin: the tables [formats.NAME] of a unit file, parsed from the text alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.twin.rational import Fraction
from tests.twin.twin_numbers import FIXED_POINT, LAYOUTS, NAN, VALUES, Layout, Number, exponent_of, infinite, two_to

SPECIALS: dict[str, Any] = {
    "ieee": "ieee", "fn": "one nan", "merged": "one nan", "fnuz": "nan for -0", "finite": "none", "p3109": "p3109",
}  # fmt: skip


def learn(table: Mapping[str, Any]) -> None:
    """Make the formats of a unit file known to the twin: its own, and integers by their names."""
    for name in (str(table.get(key, "")) for key in "ab"):
        kind, _, bits = name.partition("int")
        if bits.isdecimal() and kind in ("", "u") and int(bits) <= 16:
            VALUES.setdefault(name, list(numbers_of({"bits": int(bits), "signed": not kind})))
    for key, given in table.get("formats", {}).items():
        for known in (FIXED_POINT, VALUES, LAYOUTS):
            known.pop(key, None)  # a format of another unit
        if "bits" in given and (key == table.get("c") or table.get("operation") == "CVT"):
            FIXED_POINT[key] = (given["bits"], given.get("fraction", 0))
            continue  # of so many codes no list is made
        if "bits" in given or "values" in given:
            VALUES[key] = list(numbers_of(given))
            continue
        fields = (given["exp_bits"], given["man_bits"], given["bias"], SPECIALS[given["specials"]])
        LAYOUTS[key] = Layout(*fields, signed=given.get("signed", True), subnormals=given.get("subnormals", True))


def numbers_of(given: Mapping[str, Any]) -> Iterator[Number]:
    """The numbers of a format without fields, by code: of an integer at the exponent of its highest bit."""
    bits = given.get("bits")
    if bits is not None:
        exponent = bits - 1 - given.get("fraction", 0)
        for code in range(2**bits):
            value = code - 2**bits if given.get("signed", True) and code >= 2 ** (bits - 1) else code
            yield Number("finite", value < 0, Fraction(value, 2 ** (bits - 1)), exponent)
        return
    for text in given["values"]:
        negative, plain = text.startswith("-"), text.removeprefix("-")
        if plain in ("nan", "inf"):
            yield NAN if plain == "nan" else infinite(negative)
            continue
        factor, _, power = plain.partition("*2^")
        value = Fraction(factor) * two_to(int(power or 0)) * (-1 if negative else 1)
        exponent = exponent_of(value) if value else 0
        yield Number("finite", negative, value / two_to(exponent), exponent)
