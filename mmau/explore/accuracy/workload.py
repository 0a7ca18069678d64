"""Workloads of accuracy measurements, by name or as a table, checked before any work begins."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from golden.checks import check_int, check_name, check_number, listed, unknown
from golden.products.gemm_order import GemmOrder
from golden.products.recipes import order_from_table
from golden.stimulus import CLASSES
from mmau.explore.accuracy.exact_sums import MAX_K
from mmau.explore.accuracy.quantise import PLAIN, Quantiser, check_quantiser
from mmau.explore.accuracy.tensor_files import Tensor, tensor_of
from mmau.explore.network.settings import Settings
from mmau.explore.network.settings import check as check_network

DISTRIBUTIONS = ("normal", "uniform", "outliers")
"""N(0, 1); U(−1, 1); N(0, 1) + Bernoulli(share) · N(0, 100)."""

OUTLIER_SHARE = 0.001
"""The share of numbers that `outliers` enlarges, where its table states none."""

CLASS_NORMAL = "class-normal"
"""Name of the stimulus' class `normal` as a workload: the distribution has the name `normal`."""

OF_CLASSES = {CLASS_NORMAL if name == "normal" else name: name for name in CLASSES}
"""Workload to class of golden.stimulus."""

PROPERTIES = "properties"
"""The workload of properties that a search finds once for each unit, without operands of its own."""

NETWORK = "network"
"""The workload of a network trained on the unit (`mmau.explore.network`), without operands of its own."""

MADE_LONG = ("chain", "tensors")
"""Kinds whose rows are as long as they say, whatever a unit's step takes."""

MAX_CONDITION = 1e15
"""Largest condition number of generated rows: their partial sums are computed with 53 bits."""

KEYS: dict[str, dict[str, bool]] = {
    **{name: {} for name in (*OF_CLASSES, PROPERTIES)},
    **{name: {"quantise": False} for name in DISTRIBUTIONS},
    "outliers": {"share": False, "quantise": False},
    "chain": {"K": True, "order": False, "quantise": False},
    "ill-conditioned": {"condition": True},
    "file": {"path": True, "sha256": False},
    "tensors": {"a": True, "b": True, "order": False, "quantise": False, "sha256": False},
    NETWORK: {f.name: False for f in fields(Settings)},
}
"""Kind of workload to the keys of its table, each with whether it is required."""

EXAMPLES = (*DISTRIBUTIONS, *OF_CLASSES, PROPERTIES, NETWORK, "chain-4096", "ill-conditioned-1e6")

_CHAIN = re.compile(r"chain-([0-9]{1,9})")
_ILL = re.compile(r"ill-conditioned-([0-9][0-9.]*(?:e\+?[0-9]{1,3})?)")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A workload whose values are checked.

    Attributes:
        kind: one of `KEYS`.
        K: products of a row of a chain; None for the default of the unit.
        condition: (|c| + Σ |a_k·b_k|) / |c + Σ a_k·b_k| that rows of `ill-conditioned` should have.
        share: of the numbers of `outliers` that are enlarged (0 to 1).
        order: the order of a chain's steps; None for one after the other.
        path: a file of `file`.
        tensors: A [M, K] and B [N, K] of `tensors`, whose rows are multiplied in pairs.
        sha256: of the files of `tensors`, where it is known.
        quantise: how real numbers become operands.
        network: the settings of `network`.
        label: the name that the table states.
    """

    kind: str
    K: int | None = None
    order: GemmOrder | None = None
    condition: float | None = None
    share: float = OUTLIER_SHARE
    path: Path | None = None
    tensors: tuple[Tensor, Tensor] | None = None
    sha256: tuple[str, ...] = ()
    quantise: Quantiser = PLAIN
    network: Settings | None = None
    label: str | None = None

    @property
    def name(self) -> str:
        """The name of the workload in results: a text without dots."""
        if self.label is not None:
            return self.label
        found = self.draws if self.order is None else f"{self.draws} {_described(self.order)}"
        found = found if self.share == OUTLIER_SHARE else f"{found} share={_without_dot(self.share)}"
        return found if self.quantise == PLAIN else f"{found} {_described(self.quantise)}".replace(".", "-")

    @property
    def quantises(self) -> bool:
        """Whether the workload draws real numbers, which become operands of steps or of chains."""
        return self.kind in (*DISTRIBUTIONS, "chain")

    @property
    def draws(self) -> str:
        """The name that follows from the kind and what it alone has; the random numbers depend on this name."""
        if self.network is not None:
            return self.network.name
        if self.condition is not None:
            return f"ill-conditioned-{_without_dot(self.condition)}"
        if self.path is not None:
            return f"file-{self.path.stem}".replace(".", "-")
        if self.tensors is not None:
            return "-".join(tensor.name for tensor in self.tensors).replace(".", "-")
        return self.kind if self.K is None else f"{self.kind}-{self.K}"


def _described(keyed: GemmOrder | Quantiser) -> str:
    """The keys of an order or a quantiser that differ from their defaults."""
    keys = ((f.name, getattr(keyed, f.name)) for f in fields(keyed) if getattr(keyed, f.name) != f.default)
    return " ".join(f"{key}={value}" for key, value in keys)


def _without_dot(number: float) -> str:
    """A number as 1e6, 15e5 or 25."""
    text = f"{Decimal(repr(number)).normalize():e}"
    mantissa, exponent = text.split("e")
    whole, _, fraction = mantissa.partition(".")
    shifted = int(exponent) - len(fraction)
    return f"{whole}{fraction}e{shifted}" if shifted else f"{whole}{fraction}"


def workload_name(given: str | Mapping[str, Any]) -> str:
    """The name of a workload in results; errors as of `check_workload`."""
    return check_workload(given).name


def with_files(given: str | Mapping[str, Any], folder: Path) -> str | dict[str, Any]:
    """A workload independent of the current folder: paths made absolute, from the folder, with the file's SHA-256.

    Raises:
        As `check_workload`.
    """
    if isinstance(given, str):
        return given
    table = dict(given)
    if table.get("kind") == "file" and isinstance(table.get("path"), str):
        table["path"] = str((folder / table["path"]).absolute())
        checked = check_workload(table)
        assert checked.path is not None
        table["sha256"] = _digest(checked.path)
    if table.get("kind") == "tensors":
        found = {key: tensor_of(f"{key} of tensors", table.get(key), folder) for key in "ab"}
        table |= {key: f"{tensor.path}:{tensor.name}" for key, tensor in found.items()}
        table["sha256"] = [_digest(tensor.path) for tensor in found.values()]
    return table


def check_workload(given: str | Mapping[str, Any]) -> Workload:
    """The workload with a given name, or that a table {kind = …, further keys} describes.

    Raises:
        ValueError: no such name or kind, a key that is unknown, missing or out of range; the message suggests near
        spellings. TypeError: neither a text nor a table. OSError: a file that is not there.
    """
    if isinstance(given, Mapping):
        return _of_table(dict(given))
    if not isinstance(given, str):
        raise TypeError(f"a workload must be a name or a table with the key kind, got {given!r}")
    if chain := _CHAIN.fullmatch(given):
        return _of_table({"kind": "chain", "K": int(chain[1])})
    if ill := _ILL.fullmatch(given):
        return _of_table({"kind": "ill-conditioned", "condition": _number(given, ill[1])})
    if given not in KEYS or any(KEYS[given].values()):
        raise ValueError(unknown("workload", given, EXAMPLES, shown=len(EXAMPLES)))
    return _of_table({"kind": given})


def _number(given: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"workload ill-conditioned-N takes a number as 1e6, got {given!r}") from None


def _of_table(table: dict[str, Any]) -> Workload:
    kind, label = table.pop("kind", None), table.pop("name", None)
    if not isinstance(kind, str) or kind not in KEYS:
        raise ValueError(unknown("kind of a workload", kind, KEYS, shown=len(KEYS)))
    if label is not None:
        _check_label(label)
    allowed = KEYS[kind]
    for key in table:
        if key not in allowed:
            raise ValueError(unknown(f"key of the workload {kind}", key, ["kind", "name", *allowed]))
    missing = [key for key, required in allowed.items() if required and key not in table]
    if missing:
        raise ValueError(f"the workload {kind} is missing {listed(missing)}")
    if kind == "chain":
        check_int("K of a chain", table["K"], 1, MAX_K)
    if "order" in table:
        table["order"] = _order(table["order"])
    if "share" in table:
        check_number("share of outliers", table["share"], 0, 1)
        table["share"] = float(table["share"])
    if "quantise" in table:
        table["quantise"] = check_quantiser(table["quantise"])
    if kind == "tensors":
        table["tensors"] = tuple(tensor_of(f"{key} of tensors", table.pop(key)) for key in "ab")
        table["sha256"] = tuple(table.get("sha256", ()))
        for tensor, sha256 in zip(table["tensors"], table["sha256"], strict=False):
            _check_digest(tensor.path, sha256)
    if kind == "ill-conditioned":
        table["condition"] = _condition(table["condition"])
    if kind == NETWORK:
        table = {"network": check_network(table)}
    if kind == "file":
        table["path"] = _path(table["path"], table.pop("sha256", None))
    return Workload(kind=kind, label=label, **table)


def _order(value: Any) -> GemmOrder | None:
    """The order of a chain; None where it is one step after the other."""
    if not isinstance(value, Mapping):
        raise TypeError(f"order of a chain must be a table with the keys of a gemm.toml, got {value!r}")
    for key in ("instruction", "unit"):
        if key in value:
            raise ValueError(f"order of a chain must not have the key {key}: the chain is one of the unit that is measured")
    try:
        order = order_from_table(dict(value), Path())
    except (TypeError, ValueError) as error:
        raise ValueError(f"order of a chain: {error}") from error
    return order if order.adds else None


def _check_label(label: Any) -> None:
    check_name("name of a workload", label)
    if "." in label:
        raise ValueError(f"name of a workload must have no dots, for it becomes part of a column's name; got {label!r}")


def _condition(value: Any) -> float:
    rule = f"condition of ill-conditioned must be a number from 2 to {MAX_CONDITION:g}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{rule}, got {value!r}")
    if not math.isfinite(value) or not 2 <= value <= MAX_CONDITION:
        raise ValueError(f"{rule}, got {value!r}")
    return float(value)


def _path(value: Any, sha256: Any) -> Path:
    if not isinstance(value, (str, Path)) or not str(value):
        raise TypeError(f"path of the workload file must name a .npz file, got {value!r}")
    path = Path(value)
    if not path.is_file():
        raise FileNotFoundError(f"path of the workload file must name a .npz file; there is no file {path}")
    if sha256 is not None:
        _check_digest(path, sha256)
    return path


def _check_digest(path: Path, sha256: str) -> None:
    if sha256 != _digest(path):
        raise ValueError(
            f"{path} is no longer the file of sha256 {sha256}: restore that file, or start with another folder of results"
        )


def _digest(path: Path) -> str:
    """The file's SHA-256, computed once while it has this time and size: every point of a space asks for it."""
    found = path.stat()
    return _digest_at(path, found.st_mtime_ns, found.st_size)


@cache
def _digest_at(path: Path, changed: int, size: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
