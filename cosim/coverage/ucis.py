"""Coverage as UCIS XML: the Unified Coverage Interoperability Standard 1.0 (Accellera, 2012, chapter 9).

Each model is an instance, each covergroup a covergroup instance with one coverpoint, each combination of values a bin.
A bin that cannot be hit is of the type `ignore` and holds its reason; where it was hit all the same it is of the type
`illegal`: the reason does not hold.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cosim.coverage.counts import Counts
from cosim.coverage.coverage_model import covergroups
from cosim.coverage.covergroup import Covergroup

VERSION = "1.0"


def ucis_xml(counts: Iterable[Counts], seed: int, passed: bool, tool_version: str, now: datetime | None = None) -> bytes:
    """A UCIS document.

    Args:
        seed: the run's seed. passed: whether the run passed. tool_version: this program's version. now: the time (UTC);
            None for now.
    """
    when = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S")
    document = Element("UCIS", ucisVersion=VERSION, writtenBy="mmau", writtenTime=when)
    SubElement(document, "sourceFiles", fileName="mmau", id="1")
    SubElement(
        document, "historyNodes", historyNodeId="0", logicalName="mmau cosim", kind="HISTORYNODE_TEST",
        testStatus="true" if passed else "false", seed=str(seed), date=when, toolCategory="UCIS:simulator",
        ucisVersion=VERSION, vendorId="MMAU", vendorTool="mmau", vendorToolVersion=tool_version,
    )  # fmt: skip
    for number, each in enumerate(counts):
        _add_model(document, number, each)
    indent(document)
    text: bytes = tostring(document, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_model(document: Element, number: int, counts: Counts) -> None:
    name = f"model_{number}"
    instance = SubElement(
        document,
        "instanceCoverages",
        name=name,
        key=str(number),
        instanceId=str(number),
        moduleName=counts.model.operation.name,
    )
    parameters = {"operation": counts.model.operation.name, **counts.model.operation.parameters(), "K": counts.model.K}
    for key, value in parameters.items():
        parameter = SubElement(instance, "designParameter")
        SubElement(parameter, "name").text, SubElement(parameter, "value").text = key, str(value)
    _add_place(instance, "id")
    coverage = SubElement(instance, "covergroupCoverage")
    for place, group in enumerate(covergroups(counts.model)):
        _add_group(coverage, name, place, group, counts.hits[group.name])


def _add_group(coverage: Element, module: str, place: int, group: Covergroup, hits: list[int]) -> None:
    instance = SubElement(coverage, "cgInstance", name=group.name, key=str(place))
    SubElement(instance, "options")
    identity = SubElement(instance, "cgId", cgName=group.name, moduleName=module)
    _add_place(identity, "cginstSourceId")
    _add_place(identity, "cgSourceId")
    points = " x ".join(point.name for point in group.points)
    coverpoint = SubElement(instance, "coverpoint", name=points, key="0", exprString=points)
    SubElement(coverpoint, "options")
    for number, (name, reason, count) in enumerate(zip(group.bins, group.reasons, hits, strict=True)):
        kind = "bins" if reason is None else "illegal" if count else "ignore"
        of_bin = SubElement(coverpoint, "coverpointBin", name=name, key=str(number), type=kind)
        values = SubElement(of_bin, "range", {"from": str(number), "to": str(number)})
        SubElement(values, "contents", coverageCount=str(count))
        if reason is not None:
            SubElement(of_bin, "userAttr", key="unreachable", type="str").text = reason


def _add_place(parent: Element, tag: str) -> None:
    """A source position, which the schema requires; a covergroup of a model has none."""
    SubElement(parent, tag, file="1", line="1", inlineCount="1")
