"""The code of a Python source without comments, docstrings and layout."""

import ast
from functools import cache


@cache
def code_of(source: bytes) -> bytes:
    """The syntax tree as text, without docstrings: the same text for sources that differ in layout and comments alone, under
    every version of Python. A source that is not Python is returned unchanged.

    >>> code_of(b"x = 1  # one") == code_of(b"x  =  (1)") != code_of(b"x = 2")
    True
    """
    try:
        return _text(ast.parse(source)).encode()
    except (SyntaxError, ValueError):
        return source


def _text(node: object) -> str:
    """A node with its fields by name. Empty fields are omitted, because a later Python may have more of them."""
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields)
        named = (f"{name}={_text(value)}" for name, value in fields if value is not None and value != [])
        return f"({type(node).__name__} {' '.join(named)})"
    if isinstance(node, list):
        return f"[{' '.join(_text(each) for each in node if not _is_docstring(each))}]"
    return repr(node)


def _is_docstring(node: object) -> bool:
    """Whether a node is a statement that consists of a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
