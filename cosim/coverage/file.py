"""Coverage in files: JSON, with every bin by its name, which accumulates over runs; and UCIS XML of it.

UCIS is the Unified Coverage Interoperability Standard 1.0 (Accellera, 2012, chapter 9). Each model is an instance, each
covergroup a covergroup instance with one coverpoint, each combination of values a bin. A bin that cannot be hit is of the
type `ignore` and holds its reason; where it was hit all the same it is of the type `illegal`: the reason does not hold.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cosim.coverage.coverage_model import Counts, Model, covergroups, merged
from cosim.coverage.covergroup import Covergroup
from golden.files import held, write_atomically

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


FORMAT = "mmau coverage 1"
"""The format name in every coverage file; it changes with the contents of the format."""

MAX_BYTES = 1 << 28
"""Largest coverage file that is read (bytes); a file of the whole catalogue has a few million."""


def to_text(counts: Iterable[Counts]) -> str:
    """The text of a file."""
    models = [counted.model.as_dict() | {"rows": counted.rows, "covergroups": _named(counted)} for counted in counts]
    return json.dumps({"format": FORMAT, "models": models}, indent=1) + "\n"


def _named(counts: Counts) -> dict[str, dict[str, int]]:
    groups = covergroups(counts.model)
    return {group.name: dict(zip(group.bins, counts.hits[group.name], strict=True)) for group in groups}


def from_text(text: str, name: str) -> tuple[Counts, ...]:
    """Read the counts from the text of a coverage file.

    Args:
        name: the file's name, for messages.

    Raises:
        ValueError: the text is not a coverage file, or its bins are not those of these models.
    """
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise ValueError(f"it does not say that it is {FORMAT!r}")
        return merged([_counts(each) for each in table["models"]])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{name} must hold coverage that this version wrote: {error}; take another file") from error


def _counts(table: Mapping[str, Any]) -> Counts:
    model = Model.from_dict(table)
    hits = {}
    for group in covergroups(model):
        found = table["covergroups"][group.name]
        if list(found) != group.bins:
            raise ValueError(f"the bins of {group.name} are not those of {model}")
        hits[group.name] = [_count(count) for count in found.values()]
    return Counts(model, _count(table["rows"]), hits)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"a count must be an integer of at least 0, got {value!r}")
    return value


def read(path: Path) -> tuple[Counts, ...]:
    """The counts of a file; none if the file does not exist.

    Raises:
        ValueError: it holds something else. OSError: it cannot be read.
    """
    if not path.exists():
        return ()
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} must hold coverage of at most {MAX_BYTES:,} bytes, but is larger; take another file")
    return from_text(content.decode("utf-8", errors="replace"), str(path))


def add(path: Path, counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """Add counts to the counts in a file, and return the sums. Other processes may do so at the same time.

    Raises:
        ValueError: it holds something else. OSError: it cannot be read or written.
    """
    with held(path.resolve().parent):
        together = merged([*read(path), *counts])
        write_atomically(path, to_text(together).encode())
    return together
