"""Programs that answer rows: any program that reads operands and writes d computes dot products as a device does.

The program gets a header line, then one row after another, and writes one answer for each (docs/guides/probing.md).
"""

from golden.program.row_program import (
    BINARY,
    FORMS,
    PATIENCE,
    TEXT,
    ProgramError,
    RowForm,
    RowProgram,
    digest_of,
    files_of,
    split,
)

__all__ = ["BINARY", "FORMS", "PATIENCE", "TEXT", "ProgramError", "RowForm", "RowProgram", "digest_of", "files_of", "split"]
