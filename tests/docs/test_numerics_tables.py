"""The tables of docs/numerics.md are the formats and the parameters that the models have."""

import re
from collections.abc import Iterable

import golden
from golden.arithmetic.formats import INTEGERS
from tests.docs.documents import ROOT

TEXT = (ROOT / "docs" / "numerics.md").read_text(encoding="utf-8").replace("−", "-")
PARTS = {
    "Volta": "sm_70", "Turing": "sm_75", "Ampere": "sm_80", "Ada": "sm_89", "Hopper": "sm_90", "Blackwell": "sm_100",
    "RTX Blackwell": "sm_120",
}  # fmt: skip
SPECIALS = {
    "ieee": ("IEEE 754: the top exponent holds Inf and NaN", "as fp32;"),
    "fn": ("no Inf; exponent and mantissa all ones are NaN", "0xFF is NaN", "0x7F is NaN"),
    "fnuz": ("no Inf, no -0, and 0x80 is the NaN",),
    "finite": ("none: every code is a number",),
}
"""The table's descriptions of a format's special values."""


def section(number: int, text: str) -> str:
    return text[text.index(f"## {number}.") : text.index(f"## {number + 1}.")]


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the table that begins with that cell, without its head."""
    found = re.search(rf"^\| {re.escape(first)} \|.*\n\|[ |-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert found is not None, f"there is no table {first!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def wrong_formats(text: str) -> list[str]:
    """The formats that section 2 describes otherwise than `golden.FORMATS`, or not at all."""
    described = {}
    for names, widths, specials in rows(section(2, text), "name"):
        formats = [name.partition(" ")[0] for name in names.split("; ")]
        for name, listed in zip(formats, widths.split("; "), strict=True):
            exp_bits, man_bits, bias = map(int, re.findall(r"\d+", listed))
            described[name] = (exp_bits, man_bits, bias, specials)
    wrong = {*described} ^ ({*golden.FORMATS} - {*INTEGERS})
    for name, (exp_bits, man_bits, bias, specials) in described.items():
        known = golden.FORMATS.get(name)
        if known is not None and (
            (known.exp_bits, known.man_bits, known.bias) != (exp_bits, man_bits, bias)
            or not any(words in specials for words in SPECIALS[known.specials])
        ):
            wrong.add(name)
    return sorted(wrong)


def numbers(names: Iterable[str], text: str) -> dict[str, int]:
    """`NAME = number` of each name."""
    found = {name: re.search(rf"\b{name} = (-?\d+)", text) for name in names}
    assert all(found.values()), f"{[*names]} must stand in {text!r}"
    return {name: int(match[1]) for name, match in found.items() if match is not None}


def t_fdpa_parameters(text: str) -> dict[str, tuple[int, int, int, int]]:
    """F, bytes of A, e_zero for fp16 results, e_zero for fp32 results; by architecture."""
    described = {}
    for parts, F, size, e_zero in rows(section(6, text), "architecture"):
        sixteen, thirty_two = map(int, e_zero.split(" / "))
        for part in re.findall(r"\bsm_\d+", parts):
            described[part] = (int(F), int(size), sixteen, thirty_two)
    return described


def described_t_fdpa(entry: golden.Instruction, text: str) -> dict[str, object]:
    """The parameters that section 6 gives an instruction of T-FDPA."""
    known = t_fdpa_parameters(text)
    F, size, *e_zero = known["sm_70" if ".m8n8k4." in entry.name else entry.arch]
    rho = "RNE-FP16" if entry.d.name == "fp16" else "RZ-FP32"
    if entry.a.storage_bits == 8 and (entry.arch == "sm_89" or entry.name.startswith("wgmma")):
        exception = re.search(r"^- FP8 through `mma.sync` on Ada and through `wgmma` on Hopper: (.*)$", text, re.MULTILINE)
        assert exception is not None
        F = numbers(["F"], exception[1])["F"]
        listed = re.search(r"fp32 results ρ = ([\w-]+)", exception[1])
        assert listed is not None
        rho = rho if rho == "RNE-FP16" else listed[1]
    bytes_each = entry.operation.a.storage_bits // 8
    return {"F": F, "L": min(entry.k, size // bytes_each), "e_zero": e_zero[entry.d.name != "fp16"], "rho": rho}


def described_scaled(entry: golden.Instruction, text: str) -> dict[str, object]:
    """The parameters that sections 6 and 7 give a block-scaled instruction."""
    found = re.search(rf"\b{entry.operation.name}: (F = [^.]*)\.", section(6, text))
    assert found is not None
    kind, K_block = re.findall(r"kind::(\w+)\.block(\d+)", entry.name)[0]
    blocks = [row for row in rows(section(7, text), "kind") if row[0] == f"`{kind}`" and row[2] == K_block]
    assert [row[1] for row in blocks] == [entry.operation.name]
    scales = blocks[0][3].split(", ")
    return {
        **numbers(["F", "L", "e_zero", *(["G"] if entry.operation.name == "GST-FDPA" else [])], found[1]),
        "rho": "RZ-FP32" if "RZ-FP32" in found[1] else "none",
        "K_block": int(K_block),
        "scale": entry.name.rpartition(".")[2] if entry.name.rpartition(".")[2] in scales else "none",
    }


def described_amd(entry: golden.Instruction, text: str) -> dict[str, object]:
    """The parameters that section 6 gives an AMD instruction that is not FMA."""
    last = re.split(r"_(?=xf|bf|f|fp)|(?<=\d)(?=bf16|f16)", entry.name)[-1].removeprefix("_")
    tables = section(6, text)
    for arch, operation, lengths in rows(tables[tables.index("On other formats:") :], "architecture"):
        if (arch, operation) == (entry.arch, entry.operation.name):
            length = {
                name: int(number)
                for number, names in re.findall(r"(\d+) \(([^)]*)\)", lengths)
                for name in names.split(", ")
            }
            key = "P" if operation == "FTZ-AddMul" else "L"
            given: dict[str, object] = {key: min(entry.k, length[last])}
            if operation.endswith("TR-FDPA"):
                given |= numbers(["F", "F2"], section(5, text)[section(5, text).index("**TR-FDPA.**") :])
            return given
    raise AssertionError(f"section 6 has no {entry.operation.name} of {entry.arch}")


def described_rdna(entry: golden.Instruction, text: str) -> dict[str, object]:
    """The parameters that section 6 gives an instruction of OC- or PS-FDPA."""
    rule = section(6, text)
    rule = rule[rule.index("- gfx1100, gfx1151: OC-FDPA") :]
    lengths = re.search(r"OC-FDPA, L = (\d); gfx1201: PS-FDPA, L = (\d) \(`v_dot2`\) or (\d) \(`v_wmma`\), P = (\d)", rule)
    by_d = re.search(r"ρ is ([\w-]+), ([\w-]+) or ([\w-]+) by the format of d, and e_zero (-\d+), (-\d+) or (-\d+)", rule)
    assert lengths is not None
    assert by_d is not None
    place = ("fp32", "fp16", "bf16").index(entry.d.name)
    oc, dot2, wmma, P = map(int, lengths.groups())
    keys: dict[str, object] = numbers(["F", "h"], rule) | {"rho": by_d[1 + place], "e_zero": int(by_d[4 + place])}
    if entry.operation.name == "OC-FDPA":
        return keys | {"L": oc}
    return keys | {"L": dot2 if entry.k == 2 else wmma, "P": P}


def described(entry: golden.Instruction, text: str) -> dict[str, object]:
    match entry.operation.name:
        case "FMA" | "IDPA":
            return {}
        case "OC-FDPA" | "PS-FDPA":
            return described_rdna(entry, text)
        case "T-FDPA" if entry.fp16_order is not None:
            rule = section(9, text)
            found = re.search(r"F = (\d+) and (\d+) products each", rule)
            e_zero = re.search(r"e_zero (-\d+), for f32 results RZ-FP32 and (-\d+)\.", rule)
            assert found is not None
            assert e_zero is not None
            half = entry.d.name == "fp16"
            return {
                "F": int(found[1]), "L": int(found[2]), "e_zero": int(e_zero[1 if half else 2]),
                "rho": "RNE-FP16" if half else "RZ-FP32",
            }  # fmt: skip
        case "T-FDPA":
            return described_t_fdpa(entry, text)
        case "ST-FDPA" | "GST-FDPA":
            return described_scaled(entry, text)
        case _:
            return described_amd(entry, text)


def wrong_parameters(text: str) -> list[str]:
    """The instructions whose parameters the page gives otherwise than the catalogue."""
    wrong = []
    for entry in golden.instructions():
        if re.search(r"\.m\d+n(?!8k)", entry.name):
            continue  # N changes no parameter: of wgmma and tcgen05, n8 is enough
        if entry.arch in golden.PROCESSORS:
            continue  # section 11 has them, in words
        has = entry.operation.parameters() | {"scale": entry.name.rpartition(".")[2]}
        expected = described(entry, text)
        if {key: has[key] for key in expected} != expected:
            wrong.append(f"{entry.arch} {entry.name}")
    return wrong


def test_formats_are_those_of_the_models() -> None:
    assert wrong_formats(TEXT) == []


def test_parameters_are_those_of_the_catalogue() -> None:
    assert {PARTS[name] for name in PARTS} == {*t_fdpa_parameters(TEXT)}
    assert wrong_parameters(TEXT) == []
