"""`python -m explore.answers QUESTION RESULTS FOLDER`: the page of a question, from the folder of an exploration."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from analysis.page import Page
from explore.answers import encodings, round_down
from explore.answers.results import read_results
from explore.report.records import Record
from golden.checks import check_choice
from golden.files import write_atomically

QUESTIONS: Mapping[str, Callable[[Sequence[Record]], Page]] = {
    "round-down": round_down.page,
    "encodings": encodings.page,
}


def main(arguments: Sequence[str]) -> None:
    """Write the page, its plots and its table.

    Raises:
        ValueError: an unknown question, or results that are none. OSError: a file cannot be read or written.
    """
    if len(arguments) != 3:
        raise ValueError(f"arguments must be QUESTION RESULTS FOLDER, got {len(arguments)}")
    question, results, folder = arguments
    check_choice("question", question, tuple(QUESTIONS))
    page = QUESTIONS[question](read_results(Path(results)))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in page.files.items():
        write_atomically(Path(folder) / name, content)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(f"explore.answers: {error}")
