"""Tables between marks in a page: `<!-- table NAME -->` before one, `<!-- end of table -->` after it."""

import re
from collections.abc import Callable, Mapping

Tables = Mapping[str, Callable[[], str]]
"""The tables that there are: name to the function that computes one, as Markdown."""

_TABLE = re.compile(r"^(<!-- table ([\w-]+) -->\n)(.*?)(?=^<!-- end of table -->$)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (?:end of )?table\b")


def names(text: str) -> list[str]:
    """The names of a page's tables, in order.

    Raises:
        ValueError: a mark without its counterpart.
    """
    found = [match[2] for match in _TABLE.finditer(text)]
    marks = len(_MARK.findall(text))
    if marks != 2 * len(found):
        raise ValueError(
            f"a table must stand between `table NAME` and `end of table`, got {marks} marks of {len(found)} tables"
        )
    return found


def with_tables(text: str, tables: Tables) -> str:
    """A page with each table computed anew.

    Raises:
        ValueError: a mark without its counterpart, or a table that nothing computes.
    """
    for name in names(text):
        if name not in tables:
            raise ValueError(f"a table must be one of {', '.join(tables)}; got {name}")
    return _TABLE.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n", text)
