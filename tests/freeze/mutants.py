"""200 changes of sources, each of one line, and whether the tests of `make test` notice them.

A mutant is data: the file it was drawn from, the line, what replaces it. It is found by its line, in a function of the same
name, wherever that stands now. Its tests run nearest first, until one fails: what has the module's name, then the folder
that mirrors it, then the rest by the number of imports between test and module. A verdict is `killed`, with the test that
fails and passes without the mutant; `open`, with the number of tests' files that ran in the time; or missing where nothing
was tried.
"""

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from tests.docs.documents import PACKAGES, ROOT

QUICK = "not slow and not simulator"

GROUPS = (8, 40)
"""Files of tests that run at a time, nearest first; the rest follows."""


def sources(root: Path = ROOT) -> list[Path]:
    """The files of the product."""
    return [path for name in PACKAGES for path in sorted((root / name).rglob("*")) if path.suffix in (".py", ".hpp", ".cpp")]


def functions(text: str) -> dict[int, str]:
    """The name of the innermost function of each line that is in one."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):  # outer ones first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.name)
    return found


def located(mutant: dict[str, str], root: Path) -> tuple[Path, int] | None:
    """The file and the line, from 0, where a mutant stands now; None where its line is gone, or stands in several places."""
    found = []
    for path in sources(root):
        text = path.read_text(encoding="utf-8")
        if mutant["old"] in text:
            names = functions(text) if path.suffix == ".py" else {}
            found += [
                (path, number)
                for number, line in enumerate(text.splitlines())
                if line.strip() == mutant["old"] and names.get(number + 1, "") == mutant["where"]
            ]
    return found[0] if len(found) == 1 else None


def judged(frozen: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """The mutants with verdicts. Without a tree to try them in, those whose place is found have the frozen verdict."""
    chosen = {name: each for name, each in frozen.items() if options.only in f"{name} {each['kind']} {each['file']}"}
    if options.tree is None:
        return {
            name: mutant if located(mutant, ROOT) else mutant | {"verdict": "not found: its line is changed"}
            for name, mutant in chosen.items()
        }
    tree = options.tree.resolve()
    if tree == ROOT or _git(tree, "status", "--porcelain", "--untracked-files=no"):
        raise ValueError(
            f"--tree must be another clone than {ROOT}, without changes, as the mutants are written into it, got {tree}"
        )
    done, began = {}, time.monotonic()
    order = sorted(chosen, key=lambda name: ("verdict" in chosen[name], _is_compiled(chosen[name]), name[::-1]))
    for name in order:  # what was not tried before comes first, and some of every kind
        mutant = chosen[name]
        if options.action == "write" and mutant.get("verdict", "") not in ("", "open"):
            done[name] = mutant
        elif options.within is None or time.monotonic() - began < options.within:
            done[name] = mutant | _tried(mutant, tree, options.seconds)
            print(f"{name}: {done[name]['verdict']} {done[name].get('by', '')}", flush=True)
            if options.action == "write":
                _keep(frozen | done)
        elif options.action == "write":
            done[name] = mutant
    return {name: done[name] for name in chosen if name in done}


def _is_compiled(mutant: dict[str, str]) -> bool:
    """Whether the library must be built again, for which each takes minutes."""
    return mutant["file"].startswith("golden/native/")


def _keep(records: dict[str, Any]) -> None:
    from tests.freeze.__main__ import HERE, text_of

    write_atomically(HERE / "mutants.json", text_of(records).encode())


def worse(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for each mutant that was killed and is not, or whose line is not found."""
    return [
        f"{name}: {now}, was {was.get('verdict', 'not tried')} {was.get('by', '')}: {was['change']}"
        for name, was in old.items()
        if (now := new.get(name, was).get("verdict", "")).startswith("not found") or (was.get("verdict") == "killed" != now)
    ]


def _tried(mutant: dict[str, str], tree: Path, seconds: float) -> dict[str, Any]:
    place = located(mutant, tree)
    if place is None:
        return {"verdict": "not found: its line is changed"}
    path, number = place
    sound = path.read_text(encoding="utf-8")
    lines = sound.splitlines(keepends=True)
    lines[number] = lines[number].replace(mutant["old"], mutant["new"])
    end = time.monotonic() + seconds
    try:
        _write(path, "".join(lines), tree)
        ran = 0
        for files, marks in _rounds(path, tree):
            failed = _first_failure(files, marks, tree, end)
            if failed is None:
                break
            if failed:
                _write(path, sound, tree)
                if _first_failure([failed], "", tree, time.monotonic() + seconds) != "":
                    return {"verdict": "open", "by": f"{failed} fails without it too"}
                return {"verdict": "killed", "by": failed}
            ran += len(files)
        return {"verdict": "open", "by": f"{ran} files of tests"}
    finally:
        if path.read_text(encoding="utf-8") != sound:
            _write(path, sound, tree)


def _write(path: Path, text: str, tree: Path) -> None:
    """Replace a source, without leaving the compiled one; build the library again where it is one of its sources."""
    path.write_text(text, encoding="utf-8")
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    if "native" in path.parts and "golden" in path.parts:
        subprocess.run(["make", ".venv/.dev"], cwd=tree, capture_output=True, check=False)


def _rounds(path: Path, tree: Path) -> Iterator[tuple[list[str], str]]:
    """Files of tests and which of their tests, those that are near and quick first."""
    files = nearest(path.relative_to(tree), tree)
    near, middle, rest = files[: GROUPS[0]], files[GROUPS[0] : sum(GROUPS)], files[sum(GROUPS) :]
    slow = f"not ({QUICK})"
    yield from ((near, QUICK), (near, slow), (middle, QUICK), (rest, QUICK), (middle, slow), (rest, slow))


def nearest(path: Path, tree: Path) -> list[str]:
    """All files of tests, those nearest to a source first."""
    importers = _importers(tree)
    module = ".".join(path.with_suffix("").parts) if path.suffix == ".py" else ".".join(path.parts[:2])
    distance, waiting = {module.removesuffix(".__init__"): 0}, deque([module.removesuffix(".__init__")])
    while waiting:
        here = waiting.popleft()
        for other in importers.get(here, ()):
            if other not in distance:
                distance[other] = distance[here] + 1
                waiting.append(other)
    mirror = ("tests", *path.parent.parts) if path.suffix == ".py" else ("tests", *path.parts[:2])

    def order(test: Path) -> tuple[int, int, str]:
        inside = test.parts[: len(mirror)] == mirror
        named = inside and path.stem in test.stem
        return (0 if named else 1 if inside else 2, distance.get(".".join(test.with_suffix("").parts), 99), str(test))

    tests = [test.relative_to(tree) for test in (tree / "tests").rglob("test_*.py")]
    return [test.as_posix() for test in sorted(tests, key=order)]


@cache
def _importers(tree: Path) -> dict[str, set[str]]:
    """Which modules import each module."""
    found: dict[str, set[str]] = {}
    for path in [*sources(tree), *(tree / "tests").rglob("*.py")]:
        if path.suffix != ".py":
            continue
        name = ".".join(path.relative_to(tree).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    imported = [each.name for each in names]
                case ast.ImportFrom(module=str(module), names=names):
                    imported = [module, *(f"{module}.{each.name}" for each in names)]
                case _:
                    continue
            for each in imported:
                found.setdefault(each, set()).add(name)
    return found


def _first_failure(files: list[str], marks: str, tree: Path, end: float) -> str | None:
    """The first test that fails, empty where none does; None where the time is over."""
    usual = "not peer and not site and not kernels and not long and not campaign"
    command = [str(tree / ".venv/bin/pytest"), "-x", "-q", "-rfE", "--no-header", "-p", "no:cacheprovider"]
    command += ["-m", f"{usual} and {marks}" if marks else usual, *files]
    run = subprocess.Popen(
        command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=os.environ | {"XDG_CACHE_HOME": str(tree / "build" / "freeze-cache")},
    )  # fmt: skip
    try:
        output = run.communicate(timeout=max(1.0, end - time.monotonic()))[0]
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return None
    if run.returncode in (0, 5):
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, flags=re.MULTILINE)
    if failed is None:
        print(output[-2000:], file=sys.stderr)
        return files[0]
    return failed[1]


def _git(tree: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=tree, capture_output=True, text=True, check=True).stdout.strip()
