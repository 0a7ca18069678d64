"""Counts are merged in any order and of one model alone, and survive a file; UCIS XML has every bin."""

import itertools
import json
import threading
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from cosim.coverage import file
from cosim.coverage.coverage_model import Counts, covergroups, merged
from cosim.coverage.file import FORMAT, from_text, read, to_text, ucis_xml
from rtl.designs.sample_units import sample_units
from tests.cosim.coverage.unit_coverage import bins_of, contradicted, counts_of
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

UNITS = {unit.name: unit.operation for unit in sample_units()}
SMALL, OTHER = UNITS["small T-FDPA"], UNITS["small FMA"]


def parts() -> list[Counts]:
    return [counts_of(SMALL, ((vectors, seed),)) for vectors, seed in ((60, 1), (70, 2), (80, 3))]


def test_merging_is_associative_and_commutative() -> None:
    one, two, three = parts()
    whole = one.merged(two).merged(three)
    assert all(merged(order) == (whole,) for order in itertools.permutations((one, two, three)))
    assert one.merged(two.merged(three)) == whole
    assert whole.rows == 210
    assert whole.hits["class of c"] == [sum(counts) for counts in zip(*(p.hits["class of c"] for p in parts()), strict=True)]


def test_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^coverage is merged of one model alone, got T-FDPA, a = fp16.* and T-FDPA"):
        parts()[0].merged(counts_of(SMALL, ((60, 1),), K=4))


def test_models_stay_apart() -> None:
    one, *_ = parts()
    other = counts_of(OTHER, ((50, 1),))
    assert merged([one, other, one]) == (one.merged(one), other)


def test_file_comes_back_and_a_run_is_added(tmp_path: Path) -> None:
    one, two, _ = parts()
    path = tmp_path / "coverage.json"
    assert read(path) == ()
    path.write_text(to_text(merged([*read(path), one])), encoding="utf-8")
    assert read(path) == (one,)
    path.write_text(to_text(merged([*read(path), two])), encoding="utf-8")
    assert read(path) == (one.merged(two),)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:100], "Unterminated string"),
        (lambda text: text.replace(FORMAT, "something else"), f"it does not say that it is {FORMAT!r}"),
        (lambda text: "[]", f"it does not say that it is {FORMAT!r}"),
        (lambda text: text.replace('"c, +0"', '"c, plus zero"'), "the bins of class of c are not those of T-FDPA"),
        (lambda text: text.replace('"rows": 60', '"rows": -1'), "a count must be an integer of at least 0, got -1"),
        (lambda text: text.replace('"rows": 60', '"rows": true'), "a count must be an integer of at least 0, got True"),
        (lambda text: text.replace('"T-FDPA"', '"U-FDPA"'), "'U-FDPA'"),
        (lambda text: text.replace('"L": 2', '"L": 0'), "L must be an integer from 1 to 1024, got 0"),
        (lambda text: json.dumps({"format": FORMAT}), "'models'"),
    ],
)  # fmt: skip
def test_damaged_file_is_refused(damage: object, message: str) -> None:
    assert callable(damage)
    text = to_text(parts()[:1])
    damaged = damage(text)
    assert damaged != text
    with pytest.raises(
        ValueError, match=r"^here\.json must hold coverage that this version wrote: .*; take another file$"
    ) as error:
        from_text(damaged, "here.json")
    assert message in str(error.value)


@pytest.mark.attack("two writers at once")
def test_runs_at_once_lose_no_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run adds its counts after the first has read the file: it has to wait until the first has written."""
    path, (one, two, _) = tmp_path / "hits.json", parts()
    second = threading.Thread(target=file.add, args=(path, [two]))

    def read_then_overtaken(path: Path) -> tuple[Counts, ...]:
        found = read(path)
        monkeypatch.undo()
        second.start()
        second.join(0.2)
        return found

    monkeypatch.setattr(file, "read", read_then_overtaken)
    file.add(path, [one])
    second.join()
    assert read(path) == merged([one, two])


@pytest.mark.parametrize("content", ["[" * 100_000, "\udcff", "{}"])
@pytest.mark.attack("inputs without an end, or hostile text")
def test_what_is_no_coverage_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "hits.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=r"hits\.json must hold coverage that this version wrote: .*; take another file$"):
        read(path)


@pytest.mark.attack("inputs without an end, or hostile text")
def test_coverage_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match=r"^/dev/zero must hold coverage of at most 100 bytes, but is larger; take another"):
        read(Path("/dev/zero"))


SMALL = next(unit.operation for unit in sample_units() if unit.name == "small T-FDPA")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def document() -> bytes:
    return ucis_xml([counts_of(SMALL, ((500, 0),)), counts_of(SMALL, ((300, 0),), K=4)], 7, True, "1.2", NOW)


def test_every_bin_is_there_with_its_count() -> None:
    root = ET.fromstring(document())
    assert (root.tag, root.get("ucisVersion"), root.get("writtenTime")) == ("UCIS", "1.0", "2026-01-02T03:04:05")
    history = root.find("historyNodes")
    assert history is not None
    assert (history.get("seed"), history.get("testStatus"), history.get("vendorToolVersion")) == ("7", "true", "1.2")
    first, second = root.findall("instanceCoverages")
    parameters = {each.findtext("name"): each.findtext("value") for each in second.findall("designParameter")}
    assert (parameters["operation"], parameters["K"], parameters["rho"]) == ("T-FDPA", "4", "RNE-FP16")
    counts = counts_of(SMALL, ((500, 0),))
    found = []
    for group in first.iter("cgInstance"):
        for of_bin in group.iter("coverpointBin"):
            contents = of_bin.find("range/contents")
            assert contents is not None
            reason = of_bin.findtext("userAttr")
            assert of_bin.get("type") == ("bins" if reason is None else "ignore")
            found.append((group.get("name"), of_bin.get("name"), reason, int(contents.get("coverageCount", "-1"))))
    assert found == list(bins_of(counts))
    assert [group.get("name") for group in first.iter("cgInstance")] == [g.name for g in covergroups(counts.model)]


def test_a_bin_that_is_hit_although_it_is_called_unreachable_is_illegal() -> None:
    wrong, said = contradicted(counts_of(SMALL, ((500, 0),)))
    root = ET.fromstring(ucis_xml([wrong], 7, True, "1.2", NOW))
    groups = [(group.get("name"), each) for group in root.iter("cgInstance") for each in group.iter("coverpointBin")]
    (illegal,) = [(group, each) for group, each in groups if each.get("type") == "illegal"]
    group, each = illegal
    (contents,) = each.iter("contents")
    times, reason = contents.get("coverageCount"), each.findtext("userAttr")
    assert f"{group}: {each.get('name')} (hit {times} times; declared unreachable: {reason})" == said


@pytest.mark.parametrize("name", ["small FTZ-FMA", "small FTZ-EO-FMA", "small IDPA"])
def test_operations_of_processors_have_their_bins(name: str) -> None:
    operation = next(unit.operation for unit in sample_units() if unit.name == name)
    counts = counts_of(operation, ((500, 0),))
    root = ET.fromstring(ucis_xml([counts], 7, True, "1.2", NOW))
    found = [(each.get("name"), each.get("type")) for each in root.iter("coverpointBin")]
    assert found == [(bin_of, "bins" if reason is None else "ignore") for _, bin_of, reason, _ in bins_of(counts)]
    assert from_text(to_text([counts]), "file") == (counts,)


@pytest.mark.peer
@pytest.mark.skipif(find_spec("ucis") is None or find_spec("lxml") is None, reason="pyucis and lxml are not installed")
def test_pyucis_reads_it_and_its_schema_accepts_it(tmp_path: Path) -> None:
    import ucis
    from lxml import etree
    from ucis.report.coverage_report_builder import CoverageReportBuilder
    from ucis.xml.xml_factory import XmlFactory

    schema = etree.XMLSchema(etree.parse(str(Path(ucis.__file__).parent / "xml" / "schema" / "ucis.xsd")))
    schema.assertValid(etree.fromstring(document()))
    path = tmp_path / "coverage.xml"
    path.write_bytes(document())
    read = CoverageReportBuilder.build(XmlFactory.read(str(path)))
    groups = covergroups(counts_of(SMALL, ((500, 0),)).model)
    assert len(read.covergroups) >= len(groups)
