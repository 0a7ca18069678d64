"""The archives of transcribed rows: where each came from, and which instruction and device each of its sets is of."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.recording import OWN, VERSION, Header
from golden.recording_index import COMPUTED, FOLDER
from golden.stimulus import Operands

PUBLISHED = ("published",)
"""The only generator of rows whose inputs others chose."""


class Set(NamedTuple):
    """One set of an archive: its entry in the archive's index, and its arrays by their names without the number."""

    entry: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Archive:
    """Attributes:
    sha256: of the archive's file.
    origin: the keys of `Header` that all sets share.
    of_entry: the keys of `Header` that an entry states, `arch`, `instruction` and `device` among them.
    place: the folder of a set below `folder`.
    prepared: the sets to import, changed where the archive says less than a recording must.
    """

    sha256: str
    origin: dict[str, Any]
    of_entry: Callable[[dict[str, Any]], dict[str, Any]]
    place: Callable[[Set], str]
    prepared: Callable[[list[Set]], Iterable[Set]] = list
    folder: Path = FOLDER

    def header(self, found: Set) -> Header:
        """The header of a set's recording."""
        return Header(version=VERSION, **(self.origin | self.of_entry(found.entry)))

    def operands(self, found: Set) -> Operands:
        """The operands of a set."""
        return Operands(*(found.arrays.get(key) for key in ("a", "b", "c", "sa", "sb")))  # type: ignore[arg-type]


MATLAB_DEVICES = {
    "V100": "NVIDIA V100", "A100": "NVIDIA A100", "A2": "NVIDIA A2", "Ada": "NVIDIA RTX 1000 Ada", "H100": "NVIDIA H100",
    "H200": "NVIDIA H200", "B200": "NVIDIA B200",
}  # fmt: skip


def is_wgmma(entry: dict[str, Any]) -> bool:
    """FP8 to fp32 on Hopper was recorded with `wgmma`, whose c the program took as 0."""
    return entry["arch"] == "sm_90" and entry["a"] in ("e4m3", "e5m2") and entry["d"] == "f32"


def matlab_header(entry: dict[str, Any]) -> dict[str, Any]:
    """MATLAB-tensor-core: one `mma`, but `is_wgmma`."""
    arch = {"sm_86": "sm_80"}.get(entry["arch"], entry["arch"])
    shape = "m8n8k4" if arch == "sm_70" else f"m16n8k{entry['k']}"
    name = f"mma.{shape}.{entry['d']}.{entry['a']}.{entry['b']}.{entry['c']}"
    note = ["compute capability 8.6"] if entry["device"] == "A2" else []
    if is_wgmma(entry):
        name = f"wgmma.m64n8k{entry['k']}.{entry['d']}.{entry['a']}.{entry['b']}"
        note.append("the program took c as 0")
    if "also" in entry:
        note.append(f"the file published for {entry['also']} holds the same rows")
    return {"arch": arch, "instruction": name, "device": MATLAB_DEVICES[entry["device"]], "note": "; ".join(note)}


def matlab_prepared(sets: list[Set]) -> Iterable[Set]:
    """Without the sets that repeat another one's data, which is noted there; c is what the device was given."""
    also = {entry["same_data_as"]: entry["device"] for entry, _ in sets if "same_data_as" in entry}
    for number, (entry, arrays) in enumerate(sets):
        if "same_data_as" not in entry:
            c = np.zeros_like(arrays["c"]) if is_wgmma(entry) else arrays["c"]
            yield Set(entry | ({"also": also[number]} if number in also else {}), arrays | {"c": c})


def tensorscope_header(entry: dict[str, Any]) -> dict[str, Any]:
    """Tensorscope: element (0, 0) of `wmma` 16×16×16: on Volta four `mma.m8n8k4`, later one `mma.m16n8k16`."""
    shape = "m8n8k4" if entry["arch"] == "sm_70" else f"m16n8k{entry['k']}"
    element = {"fp16": "f16", "bf16": "bf16"}[entry["a"]]
    note = "element (0, 0) of wmma 16x16x16; every accumulator starts as c"
    return {
        "arch": entry["arch"], "instruction": f"mma.{shape}.f32.{element}.{element}.f32", "device": entry["device"],
        "source": f"yuxuelei1998/tensorscope, formerly mmascope, {entry['a']}/numeric_fingerprints",
        "note": note,
    }  # fmt: skip


def rdna_header(entry: dict[str, Any]) -> dict[str, Any]:
    """AMD: the assembler's name, the size of the wave where the instruction has one, signs and clamp of integers."""
    name = entry["instruction"]
    if name.startswith("v_wmma"):
        name += f"_w{entry['wave']}"
    kind = "silicon"
    if "a_signed" in entry:
        bits = name.partition("_iu")[2][0]
        signs = [f".{'s' if entry[key] else 'u'}{bits}" for key in ("a_signed", "b_signed")]
        name += "".join(signs) + (".clamp" if entry["clamp"] else "")
        kind = "digest"
    who = "B. Jacob" if kind == "digest" else "Advanced Micro Devices"
    return {
        "arch": entry["arch"], "instruction": name, "kind": kind, "device": entry["device"], "runtime": entry["software"],
        "source": entry["source"], "commit": entry["commit"], "who": who, "licence": "MIT", "note": entry.get("note", ""),
    }  # fmt: skip


def as_codes(sets: list[Set]) -> Iterable[Set]:
    """Sets whose integers were stored as numbers, as bit patterns."""
    for entry, arrays in sets:
        yield Set(entry, {name: array.view(f"uint{8 * array.itemsize}") for name, array in arrays.items()})


def x86_header(entry: dict[str, Any]) -> dict[str, Any]:
    """x86 processors: the assembler's name; AMX has a shape."""
    name, cpu = entry["instruction"].lower(), entry["cpu"]
    arch = "x86-amx" if name.startswith("tdp") else "x86-avx512"
    family = f"family {cpu['cpu family']}, model {cpu['model']}, stepping {cpu['stepping']}"
    return {
        "arch": arch, "instruction": f"{name}.m16n16k{entry['K']}" if arch == "x86-amx" else name,
        "device": f"{cpu['model name'].replace('(R)', '')}, {family}", "runtime": f"microcode {cpu['microcode']}",
        "machine_code": {name: 1}, "names": tuple(entry["names"]),
    }  # fmt: skip


def joined(sets: list[Set]) -> Iterable[Set]:
    """Sets of the same instruction and device as one, the names of their generators one after the other."""
    by_instruction: dict[tuple[str, int], Set] = {}
    for entry, arrays in sets:
        arrays = {"label": np.zeros(len(arrays["d"]), np.uint8)} | arrays
        key = entry["instruction"], entry["K"]
        if key in by_instruction:
            first, others = by_instruction[key]
            arrays["label"] = arrays["label"] + np.uint8(len(first["names"]))
            arrays = {name: np.concatenate([others[name], array]) for name, array in arrays.items()}
            entry = first | {"names": [*first["names"], *entry["names"]]}
        by_instruction[key] = Set(entry, arrays)
    return by_instruction.values()


def mma_sim_header(entry: dict[str, Any]) -> dict[str, Any]:
    """MMA-Sim: names are the catalogue's."""
    return {"arch": entry["arch"], "instruction": entry["name"], "names": tuple(entry["classes"])}


def in_runs(sets: list[Set]) -> Iterable[Set]:
    """Sets whose classes are equal runs of rows."""
    for entry, arrays in sets:
        label = np.repeat(np.arange(len(entry["classes"]), dtype=np.uint8), entry["per_class"])
        yield Set(entry, arrays | {"label": label})


OF_X86 = {"kind": "silicon", "who": OWN, "licence": "Apache-2.0"}

ARCHIVES = {
    "matlab_tensor_core.npz": Archive(
        "72c5f53e11e177dc5995168cfbfd2bcb044746b699cd36f614e07014e8ff6026",
        {
            "kind": "silicon", "names": PUBLISHED, "who": "F. A. Khattak, M. Mikaitis", "licence": "BSD-2-Clause",
            "source": "north-numerical-computing/MATLAB-tensor-core, model_validation, 2,000 rows of each file",
            "commit": "b12b5a70",
        },
        matlab_header, lambda found: f"matlab-tensor-core/{found.entry['device']}", matlab_prepared,
    ),
    "tensorscope.npz": Archive(
        "244480aed90a40dc90f5cfdae094d514be33ccb33f46dd3679ee6cacd791fb00",
        {"kind": "silicon", "names": PUBLISHED, "who": "Xuelei Yu", "licence": "MIT", "commit": "dd8e1297"},
        tensorscope_header, lambda found: "tensorscope",
    ),
    "rdna.npz": Archive(
        "1ab0648dc1c77c16bfe0966e4dbac607ec70db7b4eb38fb84652a4a1d46c8685",
        {"names": PUBLISHED},
        rdna_header, lambda found: "goc" if "a_signed" in found.entry else "rocm-systems", as_codes,
    ),
    "x86_xeon.npz": Archive(
        "4d0b86b6b62f126c858312a8fcce9041ffab32f87ab72e64efae3e013d72ee36",
        OF_X86, x86_header, lambda found: "xeon", joined,
    ),
    "x86_epyc.npz": Archive(
        "31743f9ab1aa4458dccdc8e4c91071c38ca78ea1a27f7f3b9ffd4a8e0ae4ac1b",
        OF_X86 | {"seed": 20261121}, x86_header, lambda found: "epyc", joined,
    ),
    "mma_sim_2_1_1.npz": Archive(
        "7319e64447ad16c877f50ac4344c09e6b0a29a3bf808b677dffda8f156049a78",
        {
            "kind": "computed", "device": "MMA-Sim 2.1.1", "who": OWN, "licence": "Apache-2.0",
            "source": "PyPI mmasim 2.1.1, P. Xie et al., arXiv 2511.10909",
            "note": "where MMA-Sim may lose an accumulator that is not finite, d is computed by the exact-rational twin",
        },
        mma_sim_header, lambda found: "mma-sim", in_runs, COMPUTED,
    ),
}  # fmt: skip
"""By the name of the archive's file."""
