"""Disclosures of RISC-V's matrix extension: units compute as the draft says, and what is written, compared and refused."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden import Unit, load_unit
from golden.arithmetic.rounding import Mode
from golden.stimulus import OperandShape, generate, rows_of
from golden.units.unit_file import unit_from_table, unit_to_toml
from mmau import DIFFERED, OK
from mmau.analysis.disclosure import FILE, FRM, Entry, digest, in_mode, reduction_of, table_of
from mmau.cli import main
from tests.docs.documents import ROOT
from tests.twin.twin_numbers import decode, encode

UNITS = {path.stem: load_unit(path) for path in sorted((ROOT / "examples" / "units").glob("riscv-*.toml"))}

XCT, RTO, RVBNA, MX = (UNITS[f"riscv-{name}"] for name in ("fp16", "fp8-rto", "rvbna", "mx-fp8"))


def with_sums(unit: Unit, **changed: Any) -> Unit:
    assert unit.sums is not None
    return replace(unit, sums=replace(unit.sums, **changed))


FRM_ROUNDED = replace(with_sums(RTO, node="RNE-e5m10", group=4), name="frm")


def element(unit: Unit, a: Sequence[int], b: Sequence[int], c: int, group: int, rnd: str, mode: str) -> int | None:
    """One element of C as the draft's pseudocode has it for psm = 0, on rational numbers: the partial sum S of each group,
    rounded as rnd says, is added to C, which is rounded by frm. None if an operand or a sum is no number."""
    x, y, acc = (
        [decode(form.name, code) for code in codes] for form, codes in ((unit.a, a), (unit.b, b), (unit.operation.c, [c]))
    )
    if any(number.kind != "finite" for number in (*x, *y, *acc)):
        return None
    form = unit.operation.c.name
    for start in range(0, len(x), group):
        S = sum((x[k].value * y[k].value for k in range(start, start + group)), Fraction(0))
        if rnd != "xct":
            rounded = decode(form, encode(form, S, "RO" if rnd == "rto" else mode, "by-mode"))
            if rounded.kind != "finite":
                return None
            S = rounded.value
        d = encode(form, acc[0].value + S, mode, "by-mode")
        acc = [decode(form, d)]
        if acc[0].kind != "finite":
            return None
    return d


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("mode", FRM)
@pytest.mark.parametrize("unit", [XCT, RTO, FRM_ROUNDED], ids=lambda each: each.name)
def test_units_compute_as_the_draft_says(unit: Unit, mode: Mode, groups: int) -> None:
    """The sign of zero aside, which the draft does not say of a partial sum. One group is rounded before c is added, too."""
    model, found = in_mode(unit, mode), reduction_of(unit)
    operands = generate(OperandShape.of(model, groups * found.products), 400, seed=3).operands
    expected = [element(unit, row.a, row.b, row.c, found.products, found.rnd, mode) for row in rows_of(operands)]
    d = model.dot(*operands).tolist()
    pairs = [(got, want) for got, want in zip(d, expected, strict=True) if want is not None and want & 0x7FFF]
    assert len(pairs) > 100
    assert [got for got, _ in pairs] == [want for _, want in pairs]


def test_rounding_of_partial_sums_and_modes_matter() -> None:
    """What the test above compares differs between the values of rnd, of G and of frm."""
    operands = generate(OperandShape.of(RTO, 16), 3000, seed=3).operands
    results = [
        model.dot(*operands)
        for model in (
            *(in_mode(RTO, mode) for mode in FRM),
            with_sums(RTO, node="RNE-e5m10"),
            FRM_ROUNDED,
        )
    ]
    for n, one in enumerate(results):
        assert all((one != other).any() for other in results[:n])


def test_table() -> None:
    found = table_of([XCT, RTO, replace(RTO, name="same")], [2, 4, 8])
    rows = {key: (entry.G, entry.psm, entry.rnd) for key, entry in found.items()}
    assert rows == {
        (4, 16, 1): (4, 0, "xct"),
        (4, 16, 2): (4, 0, "rto"),
        (8, 16, 1): (4, 0, "xct"),
        (8, 16, 2): (4, 0, "rto"),
    }
    assert (reduction_of(RVBNA).psm, reduction_of(RVBNA).rnd, reduction_of(FRM_ROUNDED).rnd) == (1, "rto", "frm")
    narrow = with_sums(RTO, node="RZ-e5m7")
    assert (reduction_of(narrow).psm, reduction_of(narrow).rnd) == (1, "xct")


def test_digest_is_of_the_arithmetic_alone() -> None:
    assert digest(replace(in_mode(RTO, "RD"), name="other")) == digest(RTO)
    assert len({digest(unit) for unit in (*UNITS.values(), FRM_ROUNDED)}) == 5


def test_microscaled_unit() -> None:
    """Its scales are multiplied by frm, in which its digest does not differ."""
    assert list(table_of([MX], [2]).items()) == [((2, 32, 4), Entry(2, 0, "rto", (MX,)))]
    sums = in_mode(MX, "RU").sums
    assert sums is not None
    assert (sums.node, sums.scaled, sums.outer) == ("RO-e8m23", "RU-e8m23", "RU-e8m23")
    assert digest(in_mode(MX, "RU")) == digest(MX) != digest(with_sums(MX, group=4))


PLAIN: dict[str, Any] = {
    "name": "x",
    "operation": "E-FDPA",
    "L": 4,
    "a": "bf16",
    "b": "bf16",
    "c": "fp32",
    "overflow": "by-mode",
    "zero": "ieee",
}

SUMS: dict[str, Any] = {"name": "x", "operation": "E-FDPA", "L": 1, "a": "bf16", "b": "bf16", "c": "fp32"}

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"zero": "positive"}, "x: zero = 'positive' is not of the draft, whose last addition is that of IEEE 754: overflow"),
    ({"flush_inputs": True}, "x: flush_inputs = True is not of the draft"),
    ({"overflow": "saturate"}, "x: overflow = 'saturate' is not of the draft"),
    ({"rho": "RO-FP32"}, "x: the last rounding must be one of RNE, RZ, RD, RU, RNA, got RO"),
    ({"a": "tf32"}, "x: a must be a format of the draft, e2m1, e4m3, e5m2, fp16, bf16, fp32, fp64; got tf32"),
    ({"chain": {"add_c": "last"}}, "x: the draft rounds the sum of c and a finished partial sum; give"),
    ({"L": 6}, "x: a group must be a power of two times W = 2 products, got 6"),
    ({"L": 5}, "x: a group must be a power of two times W = 2 products, got 5"),
    ({"L": 32}, "x: G = 16 is beyond every lambda; got 4, 8"),
    ({"b": "e4m3"}, "x: a and b must be of c's width, or a half, a quarter or an eighth of it; got bf16, e4m3, fp32"),
]  # fmt: skip

REFUSED_SUMS: list[tuple[dict[str, Any], str]] = [
    ({"tree": "exact"}, 'x: [sums] must have group, the products of a group, and c = "first"'),
    ({"tree": "exact", "group": 4, "c": "last"}, 'x: [sums] must have group, the products of a group, and c = "first"'),
    ({"group": 4, "outer": "RNE-e8m13"}, "x: [sums] outer must round to d's format fp32, got RNE-e8m13"),
]

SCALED: dict[str, Any] = {**SUMS, "scale": "ue8m0", "K_block": 32,
                          "sums": {"tree": "exact", "group": 4, "scaled": "RNE-e8m23"}}  # fmt: skip

SCALES = "x: scales of the draft are of ue8m0, of both sides, for 16 or 32 elements, and multiply sums that are rounded, as"

REFUSED_SCALES: list[tuple[dict[str, Any], str]] = [
    ({"K_block": 64}, f"{SCALES} [sums] scaled says; got ue8m0 for 64 of scale_a and scale_b"),
    ({"scale": "ue4m3", "scales": "b"}, f"{SCALES} [sums] scaled says; got ue4m3 for 32 of scale_b"),
    ({"sums": {"group": 4, "scaled": "RZ-e8m23"}}, "x: [sums] scaled must be outer, RNE-e8m23: the draft multiplies"),
    ({"a": "fp32", "b": "fp32"}, "x: microscaled sums of the draft have W from 2 on, got a in fp32 and c in fp32"),
]


EVERY = [
    *((PLAIN | more, why) for more, why in REFUSED),
    *((SUMS | {"sums": more}, why) for more, why in REFUSED_SUMS),
    *((SCALED | more, why) for more, why in REFUSED_SCALES),
    (PLAIN | {"scale": "ue8m0", "K_block": 32}, SCALES),
]


@pytest.mark.parametrize(("table", "message"), EVERY)
def test_what_the_draft_does_not_have_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is compared below
        table_of([unit_from_table(table)], [4, 8])
    assert str(raised.value).startswith(message)


def test_units_of_a_geometry_must_agree() -> None:
    message = r"^one \(G, psm, rnd\) holds for .*: frm has \(2, 0, frm\) for lambda = 4, SEW = 16, W = 2, and riscv-fp8-rto"
    with pytest.raises(ValueError, match=message):
        table_of([RTO, FRM_ROUNDED], [4])


ROW, OF_X = "lambda = 4, SEW = 16, W = 1", "G = 4, psm = 0, rnd = xct"


def written(folder: Path, *units: str | Path, sizes: Sequence[str] = ("4",)) -> Path:
    """Write a disclosure of examples, or of units' files."""
    files = [str(ROOT / "examples" / "units" / f"{unit}.toml" if isinstance(unit, str) else unit) for unit in units]
    lambdas = [word for size in sizes for word in ("--lambda", size)]
    assert main.main(["disclose", *files, *lambdas, "--vectors", "4", "-o", str(folder)]) == OK
    return folder / FILE


def test_files_and_their_digests(tmp_path: Path) -> None:
    found = tomllib.loads(written(tmp_path, "riscv-rvbna", "riscv-fp8-rto").read_text())
    assert [(row["lambda"], row["W"], row["G"], row["psm"], row["rnd"]) for row in found["entry"]] == [
        (4, 2, 4, 0, "rto"),
        (4, 2, 1, 1, "rto"),
    ]
    for name, unit in found["unit"].items():
        assert unit["arithmetic"] == digest(load_unit(tmp_path / f"{name}.toml"))
        assert sorted(unit["vectors"]) == sorted(f"{name}-{frm}.txt" for frm in FRM.values())
        contents = [(tmp_path / file).read_bytes() for file in unit["vectors"]]
        assert [sha256(content).hexdigest() for content in contents] == list(unit["vectors"].values())
    row = (tmp_path / "riscv-rvbna-rup.txt").read_text().splitlines()[-1].split()
    codes = [int(word, 16) for word in row]
    a, b = np.array(codes[:8], np.uint16), np.array(codes[8:16], np.uint16)
    assert int(in_mode(RVBNA, "RU").dot(a, b, np.uint32(codes[16]))) == codes[17]


@pytest.mark.parametrize("name", ["../up", "a/b"])
def test_names_that_are_no_files_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They would be written outside of the folder, or in part."""
    path, folder = tmp_path / "unit.toml", tmp_path / "folder"
    path.write_text(unit_to_toml(replace(XCT, name=name)))
    assert main.main(["disclose", str(path), "--vectors", "3", "-o", str(folder)]) == 2
    printed = capsys.readouterr()
    rule = "names of a disclosure's units are those of its files: they have no folder"
    assert (printed.out, printed.err) == ("", f"mmau disclose: {rule}, got {name!r}\n")
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_disclosures_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "riscv-pairs.toml"
    pairs.write_text(unit_to_toml(replace(XCT, name="pairs", operation=XCT.operation.changed(L=2))))
    one, other = written(tmp_path / "1", "riscv-fp16", "riscv-fp8-rto"), written(tmp_path / "2", pairs, sizes=("4", "8"))
    assert main.main(["distinguish", str(one), str(one)]) == OK
    assert f"{ROW}: {OF_X} in both\nfp16, fp16, fp16: equal:" in capsys.readouterr().out
    assert main.main(["distinguish", str(one), str(other), "--vectors", "1000"]) == DIFFERED
    printed = capsys.readouterr().out
    assert f"{ROW}: {OF_X} in x, G = 2, psm = 0, rnd = xct in y\nfp16, fp16, fp16: " in printed
    assert "x  riscv-fp16: fp16 0x" in printed
    assert "lambda = 4, SEW = 16, W = 2: x alone has e4m3, e5m2, fp16\n" in printed
    assert "lambda = 8, SEW = 16, W = 1: y alone has fp16, fp16, fp16\n" in printed


WRONG = [
    (FILE, "G = 4", "G = 2", "the units of lambda = 4, SEW = 16, W = 2 in .* do not have that row's G, psm, rnd"),
    (
        FILE,
        'rnd = "rto"',
        'rnd = "frm"',
        "the units of lambda = 4, SEW = 16, W = 2 in .* do not have that row's G, psm, rnd",
    ),
    (FILE, "lambda = 4\n", "", "must be a disclosure, as `mmau disclose` writes it; it lacks 'lambda'"),
    ("riscv-fp8-rto.toml", "group = 8", "group = 4", "riscv-fp8-rto.toml beside .* is not the unit of that disclosure"),
    ("riscv-fp8-rto.toml", "RO-e5m10", "RNE-e5m10", "riscv-fp8-rto.toml beside .* is not the unit of that disclosure"),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), WRONG)
def test_changed_disclosure_is_refused(
    file: str, old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "riscv-fp8-rto")
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1))
    assert main.main(["distinguish", str(path), str(path)]) == 2
    assert re.search(message, capsys.readouterr().err)
