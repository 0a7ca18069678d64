"""`python -m studies.answers QUESTION RESULTS FOLDER`: the page of a question, from the folder of an exploration."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from golden.checks import check_choice
from mmau.explore.records import Record
from studies.answers import encodings, round_down
from studies.answers.results import read_results
from studies.pages import Files, write_files

QUESTIONS: Mapping[str, Callable[[Sequence[Record]], Files]] = {
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
    write_files(Path(folder), QUESTIONS[question](read_results(Path(results))))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(f"studies.answers: {error}")
