"""Recordings: what a device computed for given inputs, written so that they can be trusted and replayed anywhere.

A recording is a .npz file (format version 1), readable with NumPy alone and never pickled:

    a, b [rows, K], c, d [rows], scale_a, scale_b [rows, K/K_block] where scaled
                    bit patterns, in the storage widths of `golden.Format`
    label [rows]    uint8, which generator made a row: an index into the header's `names`
    header          uint8, JSON in UTF-8: an object with exactly the keys of `Header` and `sha256`

`sha256` is the digest of all arrays but the header: a, b, c, d, label, scale_a, scale_b, of each name, dtype, shape, bytes.
`index.json` beside the recordings lists every file with the digest of its bytes. Reading checks all of it, and that the
arrays are operands of the instruction named; what fails is refused.
"""

import hashlib
import io
import json
import re
import zipfile
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arrays import check_shape, to_bits
from golden.files import write_atomically
from golden.formats import Format
from golden.npz import read_npz
from golden.stimulus import Operands

VERSION = 1
INDEX = "index.json"
FOLDER = Path(__file__).resolve().parents[1] / "hwtests" / "recordings"
"""The project's own recordings, in its source tree."""

MIN_ROWS = 8192
"""Rows that a recording of a campaign has at least."""

_ARRAYS = ("a", "b", "c", "d", "label")
_SCALES = ("scale_a", "scale_b")
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member, so that equal recordings are equal files."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """Where a recording comes from.

    Attributes:
        version: of the format.
        arch, instruction: as in the catalogue.
        device: the device's own name for itself; driver, runtime, compiler: versions of what ran and compiled the kernel.
        machine_code: the matrix instructions in the kernel that ran, with their counts.
        date: of the recording, YYYY-MM-DD.
        seed: of the stimulus; names: its generators, in the order of `label`.
    """

    version: int
    arch: str
    instruction: str
    device: str
    driver: str
    runtime: str
    compiler: str
    machine_code: dict[str, int]
    date: str
    seed: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Recording:
    """Operands, the results a device gave, and where they come from."""

    header: Header
    operands: Operands
    d: npt.NDArray[Any]
    label: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.d)

    @property
    def instruction(self) -> Instruction:
        """The catalogue entry."""
        return golden.instruction(self.header.arch, self.header.instruction)


def file_name(arch: str, instruction: str) -> str:
    """`sm_90.mma.m16n8k16.f32.f16.f16.f32.npz`, with no colons."""
    return f"{arch}.{instruction.replace('::', '-')}.npz"


def write(folder: Path, recording: Recording) -> Path:
    """Write a recording and enter it in the folder's index; both appear whole or not at all.

    Raises:
        ValueError: what `read` would refuse. OSError: the folder is missing or not writable.
    """
    _check(recording)
    arrays = _arrays(recording)
    header = asdict(recording.header) | {"sha256": _digest(arrays)}
    arrays["header"] = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _FIXED_DATE)
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    path = folder / file_name(recording.header.arch, recording.header.instruction)
    listed = read_index(folder)
    write_atomically(path, stream.getvalue())
    listed[path.name] = {
        "arch": recording.header.arch,
        "instruction": recording.header.instruction,
        "device": recording.header.device,
        "rows": len(recording),
        "sha256": hashlib.sha256(stream.getvalue()).hexdigest(),
    }
    write_atomically(folder / INDEX, (json.dumps(dict(sorted(listed.items())), indent=1) + "\n").encode())
    return path


def read(path: Path) -> Recording:
    """Read a recording and check all of it.

    Raises:
        OSError: the file cannot be read.
        ValueError: damaged, of another version, or not operands and results of the instruction it names.
    """
    arrays = read_npz(path, (*_ARRAYS, "header"), _SCALES)
    try:
        header, digest = _header(arrays.pop("header"))
        if _digest(arrays) != digest:
            raise ValueError("its arrays do not have the SHA-256 that its header says")
        scales = (arrays.get("scale_a"), arrays.get("scale_b"))
        recording = Recording(header, Operands(arrays["a"], arrays["b"], arrays["c"], *scales), arrays["d"], arrays["label"])
        _check(recording)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is no valid recording: {error}") from error
    return recording


def read_index(folder: Path) -> dict[str, dict[str, Any]]:
    """The folder's index: file name to arch, instruction, device, rows and SHA-256 of the file. Empty where there is none.

    Raises:
        ValueError: not an index.
    """
    path = folder / INDEX
    if not path.exists():
        return {}
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no valid index: {error}") from error
    keys = {"arch": str, "instruction": str, "device": str, "rows": int, "sha256": str}
    if not isinstance(index, dict):
        raise ValueError(f"{path} is no valid index: it must be an object, got {type(index).__name__}")
    for name, entry in index.items():
        fits = isinstance(entry, dict) and entry.keys() == keys.keys()
        if not fits or not all(isinstance(entry[key], kind) for key, kind in keys.items()):
            raise ValueError(f"{path} is no valid index: entry {name!r} must have the keys {', '.join(keys)}")
        if name != file_name(entry["arch"], entry["instruction"]) or not re.fullmatch(r"[\w.-]+", name):
            raise ValueError(f"{path} is no valid index: {name!r} is not the file name of {entry['instruction']!r}")
    return index


def read_listed(folder: Path, name: str) -> Recording:
    """Read a recording of the index, and check that it is the file that was entered there.

    Raises:
        ValueError: as `read`, or another file than the index says. OSError: it cannot be read.
    """
    entry = read_index(folder)[name]
    path = folder / name
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != entry["sha256"]:
        raise ValueError(f"{path} must have the SHA-256 that {INDEX} says, {entry['sha256']}; got {found}")
    return read(path)


def _arrays(recording: Recording) -> dict[str, npt.NDArray[Any]]:
    a, b, c, scale_a, scale_b = recording.operands
    arrays = {"a": a, "b": b, "c": c, "d": recording.d, "label": recording.label}
    if scale_a is not None and scale_b is not None:
        arrays |= {"scale_a": scale_a, "scale_b": scale_b}
    return arrays


def _digest(arrays: dict[str, npt.NDArray[Any]]) -> str:
    total = hashlib.sha256()
    for name in (*_ARRAYS, *_SCALES):
        if name in arrays:
            array = np.ascontiguousarray(arrays[name])
            total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(array.tobytes())
    return total.hexdigest()


def _header(encoded: npt.NDArray[Any]) -> tuple[Header, str]:
    """The header and the digest it holds."""
    if encoded.dtype != np.uint8 or encoded.ndim != 1:
        raise ValueError(f"header must be a uint8 vector, got {encoded.dtype} of shape {encoded.shape}")
    try:
        keys = json.loads(encoded.tobytes())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"header is not JSON: {error}") from error
    expected = {field.name for field in fields(Header)} | {"sha256"}
    if not isinstance(keys, dict) or keys.keys() != expected:
        raise ValueError(f"header must have exactly the keys {', '.join(sorted(expected))}")
    if isinstance(keys["names"], list):
        keys["names"] = tuple(keys["names"])
    return Header(**{key: value for key, value in keys.items() if key != "sha256"}), str(keys["sha256"])


def _check(recording: Recording) -> None:
    """Raise unless header and arrays are those of a recording."""
    header = recording.header
    if header.version != VERSION:
        raise ValueError(f"format version must be {VERSION}, got {header.version!r}")
    for key in ("arch", "instruction", "device", "driver", "runtime", "compiler", "date"):
        value = getattr(header, key)
        if not isinstance(value, str) or not value:
            raise ValueError(f"{key} must be a non-empty string, got {value!r}")
    if not _is_date(header.date):
        raise ValueError(f"date must be a day of the calendar as YYYY-MM-DD, got {header.date!r}")
    if isinstance(header.seed, bool) or not isinstance(header.seed, int):
        raise ValueError(f"seed must be an integer, got {header.seed!r}")
    if not isinstance(header.machine_code, dict) or not all(isinstance(n, int) for n in header.machine_code.values()):
        raise ValueError(f"machine_code must map mnemonics to counts, got {header.machine_code!r}")
    if not isinstance(header.names, tuple) or not all(isinstance(name, str) for name in header.names):
        raise ValueError(f"names must be strings, got {header.names!r}")
    _check_arrays(recording)


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False  # fromisoformat takes weeks and other spellings too
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_arrays(recording: Recording) -> None:
    i, rows = recording.instruction, len(recording.d)
    a, b, c, scale_a, scale_b = recording.operands
    if not rows:
        raise ValueError("it must have at least one row")
    expected: list[tuple[str, Any, Format, tuple[int, ...]]] = [
        ("a", a, i.a, (rows, i.k)),
        ("b", b, i.b, (rows, i.k)),
        ("c", c, i.c, (rows,)),
        ("d", recording.d, i.d, (rows,)),
    ]
    if i.scale is not None and i.block_size is not None:
        blocks = (rows, i.k // i.block_size)
        expected += [("scale_a", scale_a, i.scale, blocks), ("scale_b", scale_b, i.scale, blocks)]
    elif scale_a is not None or scale_b is not None:
        raise ValueError(f"{i.name} has no scales, but the recording has")
    for what, array, operand, shape in expected:
        codes = to_bits(what, array, operand)
        check_shape(what, codes, shape, f"rows and elements of {i.name}")
        if codes.dtype != array.dtype:
            raise TypeError(f"{what} must hold bit patterns, got {array.dtype}")
    label = recording.label
    check_shape("label", label, (rows,), "one a row")
    if label.dtype != np.uint8 or int(label.max()) >= len(recording.header.names):
        raise ValueError(f"label must be uint8 below {len(recording.header.names)}, the number of names")
