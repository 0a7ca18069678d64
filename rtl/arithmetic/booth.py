"""Booth's recoding: partial products of a multiplier by signed radix-4 digits, half as many as bits.

A. D. Booth, "A signed binary multiplication technique" (Quarterly Journal of Mechanics and Applied Mathematics 4, 1951);
digits of two bits by O. L. MacSorley, "High-speed arithmetic in binary computers" (Proceedings of the IRE 49, 1961).
"""

from amaranth import Cat, Const, Module, Signal, Value


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
