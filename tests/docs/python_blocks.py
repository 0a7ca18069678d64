"""Running a document's Python blocks, and comparing what they give with what they say."""

import ast
import io
import tokenize
from collections.abc import Sequence
from typing import Any

from tests.docs.documents import Block


def run_blocks(document: Sequence[Block], namespace: dict[str, Any] | None = None) -> int:
    """Run a document's Python blocks one after another, in one namespace; how many values were compared.

    A line that is an expression must end in a comment that starts with its value, as Python writes it; what follows a
    semicolon there is for the reader.

    Args:
        namespace: names that earlier blocks have set, to which these add theirs; none by default.

    Raises:
        AssertionError: a line without its value, or with another value than it gives.
    """
    names: dict[str, Any] = {} if namespace is None else namespace
    compared = 0
    for block in document:
        comments = _comments(block.text)
        for statement in ast.parse(block.text).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), str(block), "exec"), names)
                continue
            assert statement.end_lineno is not None
            where = f"{block.document.name}, line {block.line + statement.end_lineno - 1}"
            stated = comments.get(statement.end_lineno, "").partition(";")[0].strip()
            assert stated, f"{where}: an expression must say its value in a comment"
            value = eval(compile(ast.Expression(statement.value), str(block), "eval"), names)
            got = repr(value.tolist() if hasattr(value, "tolist") else value)
            assert got == stated, f"{where} says {stated}, but it is {got}"
            compared += 1
    return compared


def _comments(code: str) -> dict[int, str]:
    """The comment of each line, without its mark."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
