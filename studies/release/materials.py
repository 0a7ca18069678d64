"""The bill of materials of a release (CycloneDX): third-party parts inside the wheels, and the packages that installing the
wheel requires. Packages of extras are not listed: constraints.txt has the versions that are tested."""

import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from golden.processes import run_tool
from studies.release.committed_tree import Tree

LLVM_LICENCE = "Apache-2.0 WITH LLVM-exception"


def bill_of_materials(tree: Tree, out: Path) -> Path:
    """Write the bill, and check it against CycloneDX's schema.

    Raises:
        ValueError: a required package has no version in constraints.txt, or another one is installed here.
    """
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.contact import OrganizationalEntity
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    project = tomllib.loads((tree.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, tree.commit))
    bom.metadata.timestamp = datetime.fromtimestamp(tree.epoch, UTC)
    bom.metadata.component = root = Component(
        name="mmau",
        version=project["version"],
        type=ComponentType.LIBRARY,
        bom_ref="mmau",
        description=project["description"],
        licenses=_licences(project["license"]),
        components=[_native_runtime(), *_recordings(tree.folder)],
    )
    root.supplier = OrganizationalEntity(name=project["authors"][0]["name"])
    pins = pinned((tree.folder / "constraints.txt").read_text(encoding="utf-8"))
    needed = required(project["dependencies"], pins)
    components = {name: _package(name, pins[name]) for name in needed}
    bom.components.update(components.values())
    bom.register_dependency(root, [components[name] for name in _names(project["dependencies"])])
    for name, below in needed.items():
        bom.register_dependency(components[name], [components[each] for each in below])
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"the bill of materials must follow CycloneDX's schema, got {wrong}")
    file = out / "mmau.cdx.json"
    file.write_text(text + "\n", encoding="utf-8")
    return file


def pinned(constraints: str) -> dict[str, str]:
    """The exact version of each package of constraints.txt, by canonical name."""
    lines = (line.partition("==") for line in constraints.splitlines() if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version.strip() for name, _, version in lines}


def required(dependencies: list[str], pins: dict[str, str]) -> dict[str, list[str]]:
    """All packages that the dependencies bring, and what each of them requires itself.

    Raises:
        ValueError: as `bill_of_materials`.
    """
    found: dict[str, list[str]] = {}
    waiting = _names(dependencies)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        installed = metadata.version(name)
        if pins.get(name) != installed:
            raise ValueError(
                f"constraints.txt must have the version of {name} that is installed, {installed}, got {pins.get(name)}: "
                "correct it, or set up .venv again"
            )
        found[name] = sorted({each for each in _names(metadata.requires(name) or []) if each != name})
        waiting += found[name]
    return dict(sorted(found.items()))


def _names(requirements: list[str]) -> list[str]:
    """The packages of requirements that hold here, without extras."""
    parsed = [Requirement(each) for each in requirements]
    return [canonicalize_name(each.name) for each in parsed if each.marker is None or each.marker.evaluate({"extra": ""})]


def _package(name: str, version: str) -> Any:
    from cyclonedx.model.component import Component
    from packageurl import PackageURL

    said = metadata.metadata(name).json
    licences = _licences(str(said["license_expression"])) if "license_expression" in said else []
    return Component(
        name=name, version=version, bom_ref=name, purl=PackageURL("pypi", None, name, version), licenses=licences
    )


def _native_runtime() -> Any:
    """LLVM's part of the native library, which wheels link statically (compiler.py)."""
    from cyclonedx.model.component import Component
    from packageurl import PackageURL

    said = run_tool([sys.executable, "-m", "ziglang", "c++", "--version"])
    said.check_returncode()
    (version,) = re.findall(r"clang version ([\d.]+)", said.stdout)
    return Component(
        name="llvm-project", version=version, bom_ref="llvm-project", licenses=_licences(LLVM_LICENCE),
        purl=PackageURL("github", "llvm", "llvm-project", f"llvmorg-{version}"),
        description="libc++, libc++abi, libunwind and compiler-rt, linked into golden/native/_mmau.so of the wheels",
    )  # fmt: skip


def _recordings(folder: Path) -> Iterator[Any]:
    """Sources of recordings that others made."""
    from cyclonedx.model.component import Component, ComponentType

    for name, commit, licence in sources(folder):
        yield Component(
            name=name, version=commit, type=ComponentType.DATA, bom_ref=f"{name}@{commit}", licenses=_licences(licence),
            description="recordings of silicon in hwtests/recordings, with the licence's notice",
        )  # fmt: skip


def sources(folder: Path) -> list[tuple[str, str, str]]:
    """Repository, commit and licence of each source of recordings that others made."""
    index = json.loads((folder / "hwtests" / "recordings" / "index.json").read_text(encoding="utf-8"))
    others = [entry for entry in index.values() if entry["source"]]
    return sorted({(re.split(r"[ ,]", entry["source"])[0], entry["commit"], entry["licence"]) for entry in others})


def _licences(expression: str) -> list[Any]:
    from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression

    return [LicenseExpression(expression) if " " in expression else DisjunctiveLicense(id=expression)]
