"""UCIS XML: what is in it, and that others can read it."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from cosim.coverage.coverage_model import covergroups
from cosim.coverage.file import from_text, to_text
from cosim.coverage.ucis import ucis_xml
from rtl.designs.sample_units import sample_units
from tests.cosim.coverage.unit_coverage import bins_of, contradicted, counts_of
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

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
