"""Workers: one a core, and no more than find room in memory."""

import os
from pathlib import Path

import pytest

from mmau.explore import explore as module
from mmau.explore.design_space import reference_of
from mmau.explore.explore import available_bytes, bytes_of, workers_for

SMALL = reference_of("sm_70:mma.m8n8k4.f32.f16.f16.f32")
LARGE = reference_of("sm_90:wgmma.m64n8k32.f32.e4m3.e4m3")


def test_workers_are_one_a_core_or_those_that_find_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_bytes", lambda: 1 << 50)
    assert workers_for([SMALL]) == len(os.sched_getaffinity(0))
    assert workers_for([SMALL], 300) == 300
    monkeypatch.setattr(module, "available_bytes", lambda: 5 * bytes_of([LARGE]))
    assert workers_for([SMALL, LARGE], 300) == 5
    assert workers_for([SMALL], 300) > 5
    monkeypatch.setattr(module, "available_bytes", lambda: 1)
    assert workers_for([LARGE], 300) == 1
    monkeypatch.setattr(module, "available_bytes", lambda: None)
    assert workers_for([LARGE], 300) == 300


def test_memory_is_what_the_system_and_the_container_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("meminfo", "max", "current")}
    files["meminfo"].write_text("MemTotal:  900 kB\nMemAvailable:  700 kB\n")
    monkeypatch.setattr(module, "MEMORY", files["meminfo"])
    monkeypatch.setattr(module, "LIMITS", (files["max"], files["current"]))
    assert available_bytes() == 700 << 10
    files["max"].write_text("max\n")
    files["current"].write_text("1024\n")
    assert available_bytes() == 700 << 10
    files["max"].write_text("4096\n")
    assert available_bytes() == 3072
    files["meminfo"].write_text("nothing of it\n")
    files["max"].unlink()
    assert available_bytes() is None
