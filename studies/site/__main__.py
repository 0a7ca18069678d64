"""Build the documentation site: `python -m studies.site build/site` (extra `site`). Each version has a folder of its own."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from golden.files import write_atomically
from golden.processes import run_tool
from studies.site.outside import ROOT

ALIAS = "latest"
"""The folder's second name: the version that was built last."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.site", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of all versions")
    sys.exit(build(parser.parse_args().folder, version("mmau")))


def build(folder: Path, name: str) -> int:
    """Build one version into `folder`/`name`; the exit status. A build that fails changes nothing there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "site"
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(made)]
        # The variable is the theme's own, against an advertisement on standard error.
        environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        status = run_tool(command, cwd=ROOT, env=environment, stdout=None, stderr=None).returncode
        if status:
            return status
        for target in (folder / name, folder / ALIAS):
            shutil.rmtree(target, ignore_errors=True)
        made.rename(folder / name)
    shutil.copytree(folder / name, folder / ALIAS)
    known = sorted(each.name for each in folder.iterdir() if each.is_dir() and each.name != ALIAS)
    listed = [{"version": each, "title": each, "aliases": [ALIAS] if each == name else []} for each in known]
    write_atomically(folder / "versions.json", json.dumps(listed, indent=1).encode())
    redirect = f'<meta http-equiv="refresh" content="0; url={ALIAS}/index.html">'
    write_atomically(
        folder / "index.html", f'<!DOCTYPE html>\n<meta charset="utf-8"><title>MMAU</title>{redirect}\n'.encode()
    )
    print(f"{folder / 'index.html'}: version {name}")
    return 0


if __name__ == "__main__":
    main()
