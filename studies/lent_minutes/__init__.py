"""A list for a few minutes on an H100 or H200: what is still to be measured there, as one command that needs nobody.

    python -m studies.lent_minutes --seconds 700 OUT

runs the items of `studies.lent_minutes.items` in their order, each for its share of the time, skips units recorded in OUT,
and appends every result as it comes. docs/guides/silicon.md says how to prepare it and what comes out.
"""
