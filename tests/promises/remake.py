"""Writes down the names, options and JSON schemas of today, for a release: `python -m tests.promises.remake`.

Only a version that adds some of them does this. A line that goes away is a broken promise: a new first number.
"""

import json

from golden.files import write_atomically
from mmau.cli.json_objects import SCHEMAS
from tests.promises import command_line, python_names
from tests.promises.old_files import FILES


def main() -> None:
    write_atomically(FILES / "python-names.txt", "".join(f"{line}\n" for line in python_names.lines()).encode())
    write_atomically(FILES / "command-line.json", (json.dumps(command_line.options(), indent=1) + "\n").encode())
    for schema in sorted(SCHEMAS.glob("*.json")):
        write_atomically(FILES / "schemas" / schema.name, schema.read_bytes())


if __name__ == "__main__":
    main()
