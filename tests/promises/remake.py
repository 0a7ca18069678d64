"""Writes down the names, options and JSON schemas of today, for a release: `python -m tests.promises.remake`.

Only a version that adds some of them does this. Where one that was promised is gone or has changed, nothing is written: that
is a broken promise, and needs a new first number.
"""

import json
import sys

from golden.files import write_atomically
from mmau.cli.json_objects import SCHEMAS
from tests.promises import command_line, json_schemas, python_names
from tests.promises.old_files import FILES


def main() -> None:
    names, options = python_names.lines(), command_line.options()
    schemas = {path.name: path.read_bytes() for path in sorted(SCHEMAS.glob("*.json"))}
    broken = python_names.broken((FILES / "python-names.txt").read_text(encoding="utf-8").splitlines(), names)
    broken += command_line.broken(json.loads((FILES / "command-line.json").read_text(encoding="utf-8")), options)
    for path in sorted((FILES / "schemas").glob("*.json")):
        promised, today = json.loads(path.read_text(encoding="utf-8")), json.loads(schemas.get(path.name, b"{}"))
        broken += [f"{path.name} {each}" for each in json_schemas.broken(promised, today)]
    if broken:
        sys.exit("promises are broken, and nothing is written:\n" + "\n".join(broken))
    write_atomically(FILES / "python-names.txt", "".join(f"{line}\n" for line in names).encode())
    write_atomically(FILES / "command-line.json", (json.dumps(options, indent=1) + "\n").encode())
    for name, text in schemas.items():
        write_atomically(FILES / "schemas" / name, text)


if __name__ == "__main__":
    main()
