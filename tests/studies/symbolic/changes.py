"""Changes of golden's source that no comparison with random rows notices, each a rule of docs/numerics.md."""

import ast

from studies.symbolic.model_copy import Change

UNNOTICED: dict[str, tuple[str, str, str]] = {
    "TR-FDPA: a product of 2^128 is a number": (
        "golden.operations.tr_fdpa", "+ lsb > PRODUCT_OVERFLOW_EXP", "+ lsb > PRODUCT_OVERFLOW_EXP + 1"
    ),
    "TR-FDPA: a negative sum that RZ cuts to nothing is +0": (
        "golden.operations.tr_fdpa", "if total < 0 and kept == 0:", "if False:"
    ),
    "GTR-FDPA: c is dropped at F + 1": ("golden.operations.gtr_fdpa", "< e_out - self.F - 1", "< e_out - self.F"),
    "T-FDPA: a negative result that rounds to zero is -0": (
        "golden.operations.t_fdpa", "return 0 if self.d.decode(d).cls is Cls.ZERO else d", "return d"
    ),
}  # fmt: skip
"""Name to module, what its source has, and what stands there instead."""


def replaced(module: str, old: str, new: str) -> Change:
    """A change of one place of a module's source.

    Raises:
        ValueError: the source does not have it once.
    """

    def change(name: str, tree: ast.Module) -> ast.Module:
        if name != module:
            return tree
        source = ast.unparse(tree)
        if source.count(old) != 1:
            raise ValueError(f"{module} must have {old!r} once, got {source.count(old)} times")
        return ast.parse(source.replace(old, new))

    return change
