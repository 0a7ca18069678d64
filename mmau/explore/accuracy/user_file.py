"""Operands that a user gives: arrays a, b, c and, where a unit is scaled, scale_a and scale_b, in a .npz file."""

from pathlib import Path

from golden.arrays import to_bits
from golden.npz import read_npz
from golden.stimulus import Operands, OperandShape


def products_of_file(path: Path) -> int:
    """K of the rows in a file: the last axis of `a`.

    Raises:
        ValueError, OSError: as `operands_of_file`.
    """
    a = read_npz(path, ("a", "b", "c"))["a"]
    if a.ndim != 2 or not a.size:
        raise ValueError(f"{path}: a must have shape [rows, K] with at least one row and product, got {a.shape}")
    return int(a.shape[1])


def operands_of_file(path: Path, shape: OperandShape, rows: int) -> Operands:
    """The first rows of a file, as bit patterns; nothing is unpickled.

    Args:
        shape: formats and K that they must have. rows: how many at most.

    Raises:
        ValueError: no readable .npz file, an array that is missing, of a wrong shape or dtype, or with codes that the
            format lacks. OSError: the file cannot be read.
    """
    scaled = ("scale_a", "scale_b") if shape.scale is not None else ()
    arrays = read_npz(path, ("a", "b", "c", *scaled))
    formats = {"a": shape.a, "b": shape.b, "c": shape.c, "scale_a": shape.scale, "scale_b": shape.scale}
    count = len(arrays["c"]) if arrays["c"].ndim == 1 else 0
    wanted = {"a": (count, shape.K), "b": (count, shape.K), "c": (count,)}
    wanted |= dict.fromkeys(scaled, (count, shape.blocks))
    found = {}
    for name, array in arrays.items():
        if array.shape != wanted[name] or not count:
            raise ValueError(
                f"{path}: {name} must have shape {wanted[name]}, [rows, K], [rows] and [rows, blocks] for a and b, c, and "
                f"scales; got {array.shape}"
            )
        operand = formats[name]
        assert operand is not None
        try:
            found[name] = to_bits(name, array[:rows], operand)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    return Operands(found["a"], found["b"], found["c"], found.get("scale_a"), found.get("scale_b"))
