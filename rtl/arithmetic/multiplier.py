"""Multipliers of magnitudes as rows: partial products, reduced by full adders to two rows; one adder after these, or none.

C. S. Wallace, "A suggestion for a fast multiplier" (IEEE Transactions on Electronic Computers EC-13, 1964). The sum of the
rows is the product, exactly: no row is negative, and no carry leaves the highest place. Rows by Booth's recoding
(rtl/arithmetic/multiplier.py) have 2**(bits of both factors) more in sum, always.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value

from golden.checks import check_choice
from golden.units.unit import MULTIPLIERS
from rtl.arithmetic.carry_save import carry_save, prefixes


def booth_rows(m: Module, x: Value, y: Value) -> list[Value]:
    """A row for each radix-4 digit of y, −2 to 2 times x; x is at least as long as y, which has three bits or more.

    A negative row is inverted; its increment stands in a free place of the next row. In place of the signs' extensions:

        row 0              ~s  s  s  m m m m m m      s: whether the digit is negative    m: the magnitude, inverted where s
        row 1          1  ~s  m m m m m m    s        the last s: the increment of row 0
        row 2      1  ~s  m m m m m m    s            the last digit's row has no sign and needs no constants
    """
    count, bits = len(y) // 2 + 1, len(x) + 1
    rows: list[Value] = []
    before: Value = Const(0, 1)
    for j in range(count):
        high, middle, low = (_bit(y, place) for place in (2 * j + 1, 2 * j, 2 * j - 1))
        one, two = Signal(name=f"one_{j}"), Signal(name=f"two_{j}")
        m.d.comb += [one.eq(middle ^ low), two.eq((high ^ middle) & ~one)]
        magnitude = ((x & one.replicate(len(x))) | (Cat(0, x) & two.replicate(bits)))[:bits]
        below = Cat(Const(0, max(0, 2 * j - 2)), before, Const(0, 1)) if j else Const(0, 0)
        if j == count - 1:
            rows.append(Cat(below, magnitude))
            break
        top = [high, high, ~high] if j == 0 else [~high, Const(1, 1)]
        if j == count - 2 and len(y) % 2 == 0 and j:
            top = top[:1]  # the constant above it would be twice the excess
        rows.append(Cat(below, magnitude ^ high.replicate(bits), *top))
        before = high
    return rows


def _bit(y: Value, place: int) -> Value:
    return y[place] if 0 <= place < len(y) else Const(0, 1)


ROWS = "partial"
"""Beginning of the rows' signal names `partial_<layer>_<index>`; layer 0 is the partial products."""


def multiply(m: Module, x: Value, y: Value, multiplier: str, adder: str) -> Value:
    """The product of two magnitudes, in the bits of both.

    Args:
        m: module that the multiplier goes into.
        x, y: the factors.
        multiplier, adder: as in `golden.Implementation`.
    """
    check_choice("multiplier", multiplier, MULTIPLIERS)
    if multiplier == "array":
        return x * y
    rows = carry_save(m, partial_products(m, x, y, multiplier), len(x) + len(y), ROWS)
    return rows[0] if len(rows) == 1 else row_sum(m, rows[0], rows[1], multiplier, adder)


def row_sum(m: Module, first: Value, second: Value, multiplier: str, adder: str) -> Value:
    """The sum of two rows modulo 2**width, which is the product if the rows are those of a product.

    Args:
        m: module that the adder goes into.
        first, second: rows as wide as the product.
        multiplier, adder: as in `golden.Implementation`.
    """
    width = len(first)
    if multiplier == "array":
        return (first + second)[:width]
    propagate = Signal(width)
    generated = Signal(width)
    total = Signal(width)
    m.d.comb += [propagate.eq(first ^ second), generated.eq(first & second)]
    carries, _ = prefixes(m, generated, propagate, adder)
    m.d.comb += total.eq(propagate ^ Cat(0, carries[:-1]))
    return total


def product_rows(m: Module, x: Value, y: Value, multiplier: str) -> tuple[Value, Value]:
    """Two rows whose sum is the product x·y plus `row_excess`; the second row may have one bit more than the first.

    For an array multiplier the rows are the products of x with the lower and with the upper half of y.

    Args:
        m: module that the multiplier goes into.
        x, y: the factors.
        multiplier: as in `golden.Implementation`.
    """
    width = len(x) + len(y)
    if multiplier == "array":
        half = (len(y) + 1) // 2
        return x * Cat(y[:half], Const(0, len(y) - half)), x * Cat(Const(0, half), y[half:])
    excess = row_excess(len(x), len(y), multiplier)
    rows = carry_save(m, partial_products(m, x, y, multiplier), width + (excess > 0), ROWS)
    first, second = (*rows, Const(0, width))[:2]
    if not excess:
        return first, second
    # The sum is below twice the excess, so that one row alone can have a one in its highest place.
    return first[:width], Cat(second[:width], first[width] | second[width])


def row_excess(x_bits: int, y_bits: int, multiplier: str) -> int:
    """The amount by which the sum of a product's two rows exceeds the product."""
    return 1 << (x_bits + y_bits) if multiplier == "booth" and min(x_bits, y_bits) > 2 else 0


def partial_products(m: Module, x: Value, y: Value, multiplier: str) -> list[Value]:
    """The rows of a product before they are reduced: one for each bit, or for each radix-4 digit, of the shorter factor."""
    if len(y) > len(x):
        x, y = y, x
    if row_excess(len(x), len(y), multiplier):
        return booth_rows(m, x, y)
    return [Cat(Const(0, k), Mux(bit, x, 0)[: len(x)]) for k, bit in enumerate(y)]
