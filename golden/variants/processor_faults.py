"""Models of the dot products of processors (FTZ-FMA, FTZ-EO-FMA, IDPA) with one fault each."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from golden.arithmetic.formats import FORMATS, FP32, Cls, Decoded, Format
from golden.arithmetic.rounding import MODES
from golden.arithmetic.specials import addend_special, combine, encode_special, first_nan, invalid_nan, product_special
from golden.arithmetic.steps import Term, addend, align, exact_sum, flushed, multiply
from golden.operations import Operation
from golden.operations.flushed_fma import flushed_sum, widened
from golden.variants.faulty_steps import Round, carry_lost, rounded, without_carry

PRODUCT_FRAC = 2 * FP32.man_bits


def flushed_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    """Faults of the rounding, of flushing, of the adder, of operands and NaNs, and of the order."""
    for name, choice in _roundings():
        yield name, operation.with_steps(flushed_sum=staticmethod(partial(_rounded_sum, choice)))
    for below in range(-2, FP32.man_bits - 1):
        adder = staticmethod(partial(_with_carry_lost, below))
        yield f"carry lost {below} below the largest term", operation.with_steps(flushed_sum=adder)
    yield "NaN of the last operand", operation.with_steps(fma=_last_nan)
    yield "payload of a NaN lost", operation.with_steps(widened=staticmethod(_without_payload))
    if operation.a.exp_bits < FP32.exp_bits:
        yield "subnormals of a and b flushed", operation.with_steps(widened=staticmethod(_flushed_factor))
    else:  # fp16's products are exact and never tiny, and neither are their differences
        for name, sum_of in {**_SUMS, **(_TINY_SUMS if _rounds_tiny_sums(operation) else {})}.items():
            yield name, operation.with_steps(flushed_sum=staticmethod(sum_of))
        yield "subnormals of a and b kept", operation.with_steps(fma=_keeping_factors)
        yield "what is added keeps its subnormals", operation.with_steps(fma=_keeping_addend, add=_keeping_both)
        yield "product rounded before it is added", operation.with_steps(fma=_unfused)
    if operation.structure.begins_with_zero:
        yield "c added to the even sum", operation.with_steps(add=_in_another_order())
    elif operation.L > 1:
        yield "the first product first", operation.with_steps(product_order=range(operation.L))


def _roundings() -> Iterator[tuple[str, Round]]:
    yield "sticky lost", partial(rounded, "RNE", sticky_mask=0)
    yield "half lost", partial(rounded, "RNE", half_bit=False)
    for width in (1, 2, 4, 8, 16):
        yield f"sticky of {width} bits", partial(rounded, "RNE", sticky_mask=(1 << width) - 1)
    for bits in range(1, FP32.man_bits + 2):
        yield f"carry of rounding lost at {bits}", partial(rounded, "RNE", up=carry_lost(bits))
    for mode in MODES:
        if mode != "RNE":
            yield f"{mode} for RNE", partial(rounded, mode)


def _zero(total: int, negative_zero: bool) -> int:
    return FP32.negative_zero if total < 0 or negative_zero else 0


def _rounded_sum(choice: Round, terms: Sequence[Term], negative_zero: bool) -> int:
    total, lsb = exact_sum(terms)
    if total == 0:
        return _zero(0, negative_zero)
    last = abs(total).bit_length() - 1 - FP32.man_bits + lsb
    kept = choice(abs(total), last - lsb, total < 0)
    return FP32.encode_scaled(-kept if total < 0 else kept, last, "RNE", flush=True)


def _flushed_before(terms: Sequence[Term], negative_zero: bool) -> int:
    total, lsb = exact_sum(terms)
    is_tiny = abs(total).bit_length() - 1 + lsb < FP32.e_min
    return _zero(total, negative_zero and not total) if is_tiny or not total else flushed_sum(terms, negative_zero)


def _rounded_as_subnormal(terms: Sequence[Term], negative_zero: bool) -> int:
    total, lsb = exact_sum(terms)
    if total == 0:
        return _zero(0, negative_zero)
    code = FP32.encode_scaled(total, lsb, "RNE")
    return _zero(total, False) if FP32.decode(code).cls is Cls.SUBNORMAL else code


def _kept_subnormal(terms: Sequence[Term], negative_zero: bool) -> int:
    total, lsb = exact_sum(terms)
    return FP32.encode_scaled(total, lsb, "RNE") if total else _zero(0, negative_zero)


def _flushed_to_plus(terms: Sequence[Term], negative_zero: bool) -> int:
    code, (total, _) = flushed_sum(terms, negative_zero), exact_sum(terms)
    return 0 if total and code == FP32.negative_zero else code


_SUMS: dict[str, Callable[[Sequence[Term], bool], int]] = {
    "subnormal results kept": _kept_subnormal,
    "negative results flushed to +0": _flushed_to_plus,
    "an exact zero is +0": lambda terms, negative_zero: flushed_sum(terms, False),
    "an exact zero is -0": lambda terms, negative_zero: flushed_sum(terms, True),
}

_TINY_SUMS: dict[str, Callable[[Sequence[Term], bool], int]] = {
    "flushed before rounding": _flushed_before,
    "rounded as a subnormal, then flushed": _rounded_as_subnormal,
}


def _rounds_tiny_sums(operation: Operation) -> bool:
    """Whether a sum below the normal numbers may have more bits than a result. It may not if it is one exact product, or a
    sum of results."""
    return not operation.structure.begins_with_zero or operation.length > 2


def _with_carry_lost(below: int, terms: Sequence[Term], negative_zero: bool) -> int:
    """The adder loses its carry into the bit that many positions below the larger term's leading bit."""
    lsb = min(term.exp - term.frac for term in terms)
    first, second = (align(term, lsb, 0, "RZ") for term in terms)
    bit = max(max(abs(first).bit_length(), abs(second).bit_length()) - below, 0)
    return flushed_sum([Term(without_carry(first, second, bit), lsb, 0)], negative_zero)


def multiply_add(x: int, y: int, z: int, seen: tuple[Callable[[Decoded], Decoded], ...]) -> int:
    """x·y + z, with each operand changed by a function of `seen`."""
    nan = first_nan((x, y, z), FP32)
    if nan is not None:
        return nan
    p, q, r = (see(FP32.decode(code)) for see, code in zip(seen, (x, y, z), strict=True))
    special = combine((product_special(p, q), addend_special(r)))
    if special is not None:
        return encode_special(special, FP32, invalid_nan(FP32))
    terms = [multiply(p, q, PRODUCT_FRAC, 2 * FP32.e_min), addend(r, FP32, FP32.e_min)]
    return flushed_sum(terms, negative_zero=p.sign != q.sign and r.sign == 1)


def _as_it_is(x: Decoded) -> Decoded:
    return x


ONE = FP32.encode_scaled(1, 0, "RNE")


def _keeping_addend(_: Any, x: int, y: int, z: int) -> int:
    return multiply_add(x, y, z, (flushed, flushed, _as_it_is))


def _keeping_factors(_: Any, x: int, y: int, z: int) -> int:
    return multiply_add(x, y, z, (_as_it_is, _as_it_is, flushed))


def _keeping_both(_: Any, x: int, y: int) -> int:
    return multiply_add(ONE, x, y, (flushed, _as_it_is, _as_it_is))


def _last_nan(_: Any, x: int, y: int, z: int) -> int:
    nan = first_nan((z, y, x), FP32)
    return nan if nan is not None else multiply_add(x, y, z, (flushed,) * 3)


def _unfused(_: Any, x: int, y: int, z: int) -> int:
    product = multiply_add(x, y, FP32.negative_zero, (flushed,) * 3)
    return multiply_add(ONE, product, z, (flushed,) * 3)


def _without_payload(operand: Format, code: int) -> int:
    return FP32.nan or 0 if operand.decode(code).cls is Cls.NAN else widened(operand, code)


def _flushed_factor(operand: Format, code: int) -> int:
    x = operand.decode(code)
    return _zero(-x.sign, False) if x.cls is Cls.SUBNORMAL else widened(operand, code)


def _in_another_order() -> Callable[[Any, int, int], int]:
    """An addition that keeps the odd chain for the second time it is called."""
    held: list[int] = []

    def add(operation: Any, x: int, y: int) -> int:
        if not held:
            held.extend((x, y))
            return 0
        even, odd = held
        held.clear()
        plus = partial(multiply_add, ONE, seen=(flushed,) * 3)
        return plus(plus(x, even), odd)

    return add


def integer_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    """Faults of the operands' signs, of products, of the adder, and of the ends of the range."""
    for key in ("a", "b"):
        other = FORMATS["uint8" if getattr(operation, key).signed else "int8"]
        yield f"{key} read as {other}", operation.changed(**{key: other})
    for k in sorted({0, operation.L - 1}):
        yield f"product {k} lost", _with_sum(operation, lambda parts, k=k: sum(parts) - parts[k])  # type: ignore[misc]
    yield "c lost", _with_sum(operation, lambda parts: sum(parts[:-1]))
    yield "products of 15 bits", _with_sum(operation, lambda parts: sum(_wrapped(x, 15) for x in parts[:-1]) + parts[-1])
    for bit in range(1, operation.c.width):
        yield f"carry lost at {bit}", _with_sum(operation, partial(_carry_into_c_lost, bit))
    limit = 1 << operation.c.width - 1
    for name, low, high in (
        ("the largest one too small", -limit, limit - 2),
        ("the smallest one too large", 1 - limit, limit - 1),
        ("wraps above", -limit, None),
        ("wraps below", None, limit - 1),
    ):
        if operation.overflow == "saturate":
            yield name, operation.with_steps(narrowed=staticmethod(partial(_narrowed, operation.c.codes, low, high)))


def _wrapped(value: int, bits: int) -> int:
    half = 1 << bits - 1
    return (value + half) % (2 * half) - half


def _carry_into_c_lost(bit: int, parts: Sequence[int]) -> int:
    return without_carry(sum(parts[:-1]), parts[-1], bit)


def _narrowed(codes: int, low: int | None, high: int | None, total: int) -> int:
    clipped = total if low is None else max(total, low)
    return (clipped if high is None else min(clipped, high)) % codes


def _with_sum(operation: Operation, summed: Callable[[Sequence[int]], int]) -> Operation:
    return operation.with_steps(exact_sum=staticmethod(lambda terms: (summed([term.sig for term in terms]), 0)))
