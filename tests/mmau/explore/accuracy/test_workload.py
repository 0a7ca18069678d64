"""Workloads by name and as tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.stimulus import CLASSES
from mmau.explore.accuracy import Workload, check_workload, with_files, workload_name
from mmau.explore.accuracy.workload import EXAMPLES


def test_names_and_tables_say_the_same() -> None:
    assert check_workload("chain-4096") == check_workload({"kind": "chain", "K": 4096}) == Workload(kind="chain", K=4096)
    ill = check_workload("ill-conditioned-1e6")
    assert ill == check_workload({"kind": "ill-conditioned", "condition": 1e6})
    assert ill.condition == 1e6
    for name in EXAMPLES:
        assert workload_name(name) == name


def test_every_class_of_the_stimulus_is_a_workload() -> None:
    for name in CLASSES:
        check_workload("class-normal" if name == "normal" else name)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"kind": "ill-conditioned", "condition": 1.5e6}, "ill-conditioned-15e5"),
        ({"kind": "ill-conditioned", "condition": 25}, "ill-conditioned-25"),
        ({"kind": "ill-conditioned", "condition": 2.5}, "ill-conditioned-25e-1"),
        ({"kind": "chain", "K": 64, "name": "short"}, "short"),
        ({"kind": "outliers", "share": 0.001}, "outliers"),
        ({"kind": "outliers", "share": 0.025, "quantise": {"rounding": "RZ"}}, "outliers share=25e-3 rounding=RZ"),
        ({"kind": "outliers", "share": 0}, "outliers share=0"),
        ({"kind": "chain", "K": 64, "order": {"promote_every": 4, "split_k": 1}}, "chain-64 promote_every=4"),
        ({"kind": "chain", "K": 64, "order": {"split_k": 1}}, "chain-64"),
    ],
)
def test_names_have_no_dots_and_a_table_may_have_its_own(given: dict[str, Any], name: str) -> None:
    assert workload_name(given) == name


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nromal", "workload must be one of normal, uniform, .*got 'nromal' .did you mean 'normal'"),
        ("chain", "did you mean 'chain-4096'"),
        ("file", "workload must be one of"),
        ("chain-0", "K of a chain must be an integer from 1 to 16384, got 0"),
        ("chain-99999", "K of a chain must be an integer from 1 to 16384, got 99999"),
        ("ill-conditioned-1", "condition of ill-conditioned must be a number from 2 to 1e.15, got 1.0"),
        ("ill-conditioned-1e300", "from 2 to 1e.15, got 1e.300"),
        ("ill-conditioned-1.2.3", "takes a number as 1e6, got 'ill-conditioned-1.2.3'"),
        ({}, "kind of a workload must be one of"),
        ({"kind": "chian"}, "did you mean 'chain'"),
        ({"kind": "normal", "K": 4}, "key of the workload normal must be one of kind, name, quantise; got 'K'"),
        ({"kind": "normal", "share": 0.5}, "key of the workload normal must be one of kind, name, quantise; got 'share'"),
        ({"kind": "outliers", "share": 1.5}, "share of outliers must be a number from 0 to 1, got 1.5"),
        ({"kind": "outliers", "share": "all"}, "share of outliers must be a number from 0 to 1, got 'all'"),
        ({"kind": "chain"}, "the workload chain is missing K"),
        ({"kind": "chain", "K": 4, "ordr": {}}, "key of the workload chain must be one of .*got 'ordr'"),
        ({"kind": "chain", "K": 64, "order": {"promote": 4}}, "order of a chain: key must be one of .*got 'promote'"),
        ({"kind": "chain", "K": 64, "order": {"split_k": 0}}, "order of a chain: split_k must be an integer from 1 to"),
        ({"kind": "chain", "K": 64, "order": {"unit": "u.toml"}}, "order of a chain must not have the key unit"),
        ({"kind": "normal", "name": "a.b"}, "name of a workload must have no dots"),
        ({"kind": "normal", "name": ""}, "name of a workload must be a non-empty string"),
        (3, "a workload must be a name or a table with the key kind, got 3"),
        ({"kind": "chain", "K": 4.5}, "K of a chain must be an integer from 1 to 16384, got 4.5"),
        ({"kind": "ill-conditioned", "condition": "1e6"}, "must be a number from 2 to 1e.15, got '1e6'"),
        ({"kind": "ill-conditioned", "condition": True}, "must be a number from 2 to 1e.15, got True"),
        ({"kind": "chain", "K": 64, "order": 4}, "order of a chain must be a table with the keys of a gemm.toml, got 4"),
        ({"kind": "file", "path": 3}, "path of the workload file must name a .npz file, got 3"),
    ],
)
def test_what_is_no_workload_is_refused(given: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        check_workload(given)


def test_a_file_is_named_from_the_folder_and_by_its_content(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", a=np.zeros(1))
    made = with_files({"kind": "file", "path": "v.npz"}, tmp_path)
    assert isinstance(made, dict)
    assert made["path"] == str(tmp_path / "v.npz")
    assert workload_name(made) == "file-v"
    np.savez(tmp_path / "v.npz", a=np.ones(1))
    with pytest.raises(ValueError, match="restore that file"):
        check_workload(made)
    assert with_files("normal", tmp_path) == "normal"
    assert with_files({"kind": "chain", "K": 8}, tmp_path) == {"kind": "chain", "K": 8}
    with pytest.raises(FileNotFoundError, match=r"there is no file .*absent\.npz"):
        with_files({"kind": "file", "path": "absent.npz"}, tmp_path)
