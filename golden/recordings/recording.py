"""Recordings: inputs and the results computed for them, in a file that can be verified and replayed anywhere.

A recording is a .npz file (format version 2), readable with NumPy alone and never pickled:

    a, b [rows, K], c, d [rows], scale_a, scale_b [rows, K/K_block] if scaled
                    bit patterns, in the storage widths of `golden.Format`. K is that of the instruction, or a multiple:
                    the instruction was then repeated along K, each time from the d of the time before
    label [rows]    uint8, the generator of a row: an index into the header's `names`
    header          uint8, JSON in UTF-8: an object with exactly the keys of `Header` and `sha256`

`sha256` is the digest of all arrays but the header: a, b, c, d, label, scale_a, scale_b, of each name, dtype, shape, bytes.
Reading checks it, and that the arrays are operands and results of the named instruction. `recording_index` beside
this module lists the files of a folder.
"""

import hashlib
import io
import json
import re
import zipfile
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arithmetic.formats import Format
from golden.arrays import check_shape, to_bits
from golden.chains.chain import Chain
from golden.checks import check_choice
from golden.engines.batched_dot import batched_dot
from golden.recordings.npz import read_npz
from golden.stimulus import Operands

VERSION = 2

KINDS: dict[str, str] = {
    "silicon": "d is what the device returned",
    "digest": "d is computed; its digest is the one recorded from the device",
    "computed": "d is computed by another model; no device took part",
}
"""Where the results of a recording come from."""

OWN = "MMAU"
"""`Header.who` of recordings that this project makes."""

MIN_ROWS = 8192
"""Least number of rows in a recording of a campaign."""

_ARRAYS = ("a", "b", "c", "d", "label")
_SCALES = ("scale_a", "scale_b")
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member, so that equal recordings are equal files."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """The origin of a recording. A text is empty where nothing is known.

    Attributes:
        version: version of the file format.
        arch, instruction: as in the catalogue.
        kind: one of `KINDS`.
        device: the name that the device reports, or that its owner gives; of a `computed` recording, the model.
        driver, runtime, compiler: their versions.
        machine_code: the matrix instructions in the kernel that ran, with their counts.
        date: of the recording, YYYY-MM-DD.
        seed: seed of the stimulus, None where it is unknown; names: its generators, in the order of `label`.
        who: who recorded it. source, commit: where it was published. licence: of the rows.
        note: what else a reader of the rows must know.
    """

    version: int
    arch: str
    instruction: str
    kind: str
    device: str
    driver: str = ""
    runtime: str = ""
    compiler: str = ""
    machine_code: dict[str, int] = field(default_factory=dict)
    date: str = ""
    seed: int | None = None
    names: tuple[str, ...]
    who: str
    source: str = ""
    commit: str = ""
    licence: str
    note: str = ""


@dataclass(frozen=True)
class Recording:
    """Operands, their results, and their origin."""

    header: Header
    operands: Operands
    d: npt.NDArray[Any]
    label: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.d)

    @property
    def instruction(self) -> Instruction:
        """The instruction of the catalogue whose results the rows are."""
        return golden.instruction(self.header.arch, self.header.instruction)

    def dot(self, chain: Chain | None = None, engine: str | None = None) -> npt.NDArray[Any]:
        """d [rows] as the catalogue's model computes it from the operands.

        Args:
            chain: a changed chain of the instruction, to compute with in its place. engine: as in `Instruction.dot`.
        """
        return dot_along_k(self.instruction, self.operands, chain or self.instruction.chain, engine)


def file_name(arch: str, instruction: str) -> str:
    """File name of an instruction's recording, such as `sm_90.mma.m16n8k16.f32.f16.f16.f32.npz`; it has no colons."""
    return f"{arch}.{instruction.replace('::', '-')}.npz"


def content(recording: Recording) -> bytes:
    """The file of a recording; equal recordings are equal files.

    Raises:
        TypeError, ValueError: a recording that `read` would refuse.
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
    return stream.getvalue()


def read(path: Path) -> Recording:
    """Read a recording and check its header, its digest and its arrays.

    Raises:
        OSError: the file cannot be read.
        ValueError: damaged, of another version, or not operands and results of the named instruction.
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
    expected = {key.name for key in fields(Header)} | {"sha256"}
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
    for key in ("arch", "instruction", "device", "who", "licence"):
        value = getattr(header, key)
        if not isinstance(value, str) or not value:
            raise ValueError(f"{key} must be a non-empty string, got {value!r}")
    for key in ("driver", "runtime", "compiler", "source", "commit", "note"):
        if not isinstance(getattr(header, key), str):
            raise ValueError(f"{key} must be a string, got {getattr(header, key)!r}")
    check_choice("kind", header.kind, KINDS)
    if header.date != "" and not _is_date(header.date):
        raise ValueError(f"date must be a day of the calendar as YYYY-MM-DD, got {header.date!r}")
    if isinstance(header.seed, bool) or not isinstance(header.seed, int | None):
        raise ValueError(f"seed must be an integer, got {header.seed!r}")
    if not isinstance(header.machine_code, dict) or not all(isinstance(n, int) for n in header.machine_code.values()):
        raise ValueError(f"machine_code must map mnemonics to counts, got {header.machine_code!r}")
    if not isinstance(header.names, tuple) or not all(isinstance(name, str) for name in header.names):
        raise ValueError(f"names must be strings, got {header.names!r}")
    _check_arrays(recording)


def _is_date(text: object) -> bool:
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
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
    K = a.shape[1] if a.ndim == 2 and a.shape[1] and a.shape[1] % i.k == 0 else i.k
    if i.k < K and i.c != i.d:
        raise ValueError(f"K must be {i.k} for {i.name}, whose d is no c; got {K}")
    expected: list[tuple[str, Any, Format, tuple[int, ...]]] = [
        ("a", a, i.a, (rows, K)),
        ("b", b, i.b, (rows, K)),
        ("c", c, i.c, (rows,)),
        ("d", recording.d, i.d, (rows,)),
    ]
    if i.scale is not None and i.block_size is not None:
        blocks = (rows, K // i.block_size)
        expected += [("scale_a", scale_a, i.scale, blocks), ("scale_b", scale_b, i.scale, blocks)]
    elif scale_a is not None or scale_b is not None:
        raise ValueError(f"{i.name} has no scales, but the recording has scales")
    for what, array, operand, shape in expected:
        codes = to_bits(what, array, operand)
        check_shape(what, codes, shape, f"rows and elements of {i.name}")
        if codes.dtype != array.dtype:
            raise TypeError(f"{what} must hold bit patterns, got {array.dtype}")
    label = recording.label
    check_shape("label", label, (rows,), "one a row")
    if label.dtype != np.uint8 or int(label.max()) >= len(recording.header.names):
        raise ValueError(f"label must be uint8 below {len(recording.header.names)}, the number of names")


def dot_along_k(i: Instruction, operands: Operands, chain: Chain, engine: str | None = None) -> npt.NDArray[Any]:
    """Compute d [rows] of rows as long as one or several calls of an instruction: the d of a call is the c of the next.

    Args:
        chain: of the instruction, or a variant of it.
    """
    a, b, d, scale_a, scale_b = operands
    blocks = i.k // i.block_size if i.block_size else 0
    for number in range(a.shape[1] // i.k):
        k, block = (slice(number * size, (number + 1) * size) for size in (i.k, blocks))
        scales = [None if scale is None else scale[:, block] for scale in (scale_a, scale_b)]
        d = batched_dot(chain, i.k, (a[:, k], b[:, k], d, scales[0], scales[1]), engine)
    return d
