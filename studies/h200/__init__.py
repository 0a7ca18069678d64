"""Everything that is worth running on an H200, as one command that is repeated until it says it is complete:

    python -m studies.h200 --state DIR --out DIR --seconds 520

Stages, each with a share of a call's time: a self-test, so that a wrong engine or a wrong layout shows itself apart from
arithmetic; recordings, the most uncertain instructions first; microbenchmarks; comparison at volume, all instructions in
turn up to 10^7 results each, then 10^8, then 10^9. docs/guides/silicon.md says what comes out.
"""
