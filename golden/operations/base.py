"""The base class of all operations' parameter objects."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Self

from golden.arithmetic import specials, steps
from golden.arithmetic.coded_format import CodedFormat, integer_element
from golden.arithmetic.formats import FORMATS, Format, IntegerFormat, named_integer
from golden.checks import check_choice, check_int, listed, unknown
from golden.operations import ieee
from golden.operations.structure import Structure

MULTIPLICANDS: tuple[str, ...] = (
    "tf32", "bf16", "fp16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e4m3ieee",
)  # fmt: skip
"""Formats that the fused operations of published units multiply; they take any other, too."""

PUBLISHED_ACCUMULATORS = ("fp32", "fp16", "bf16")
"""Formats of the accumulators of published fused operations."""

MAX_LENGTH = 1024
"""Upper limit of an operation's vector length (elements); the longest published is 64."""

MAX_FRACTION = 128
"""Upper limit of the alignment width (bits); the widest published is 35."""

UNRANKED = 100
"""Rank of an operation that the probe names after all others."""

MAX_PRODUCT = 60
"""Upper limit of a product's fraction bits where products are added; those of fp32 have 46."""

EXPONENT_LIMIT = 1024
"""e_zero lies in −limit … limit (exponent value)."""


@dataclass(frozen=True, kw_only=True)
class Operation(ABC):
    """An elementary operation with all its parameters: frozen, validated when made, hashable.

    Formats are given as `Format` or by name. Each subclass defines the arithmetic of one step, d = c + Σ a_k·b_k over
    `length` products. Longer products are chains of steps (golden.chains.chain).
    """

    name: ClassVar[str]
    rank: ClassVar[int] = UNRANKED
    """Place among operations that explain the same results: the probe names the one with the lowest."""
    operands: ClassVar[tuple[str, ...]] = ("a", "b", "c")
    """The operands that a step reads. Any other of a, b and c has no key, no port and no bin: it is a code that no result
    depends on, of a format that the operation sets."""
    is_one_product: ClassVar[bool] = False
    """Whether a step has one product alone, whose significand may then have any number of bits."""
    own_keys: ClassVar[tuple[str, ...]] = ()
    """Optional keys of a unit file, shown only if they differ from their defaults: the keys for user designs (numerics.md,
    section 13), and `nan` of FMA."""
    golden_alone: ClassVar[tuple[str, ...]] = ()
    """Keys that a unit file has for these models alone: with another value than the default the native library's reader of
    such files refuses it."""

    # An operation calls its steps as its methods. A derived class can replace them: golden.trace does so to record them, and
    # mutants to change them.
    decode = staticmethod(steps.decode)
    multiply = staticmethod(steps.multiply)
    addend = staticmethod(steps.addend)
    max_exp = staticmethod(steps.max_exp)
    align = staticmethod(steps.align)
    accumulate = staticmethod(steps.accumulate)
    exact_sum = staticmethod(steps.exact_sum)
    rounded_sum = staticmethod(ieee.rounded_sum)
    encode_special = staticmethod(specials.encode_special)

    a: Format
    b: Format
    c: Format

    def __post_init__(self) -> None:
        for key, choices in (("a", self._multiplicands()), ("b", self._multiplicands()), ("c", self._accumulators())):
            if key in self.operands:
                object.__setattr__(self, key, self._format(key, choices))
        if "c" in self.operands:
            check_addend("c", self.c)
        if not self.is_one_product and self.a.man_bits + self.b.man_bits > MAX_PRODUCT:
            raise ValueError(
                f"a and b of {self.name} must have at most {MAX_PRODUCT} fraction bits together, got a={self.a}, b={self.b}"
            )
        self._validate()

    def _format(self, key: str, choices: Collection[str] | None) -> Format:
        """The format of an operand that is given by itself or by its name."""
        return format_of(key, getattr(self, key), choices)

    def _multiplicands(self) -> Collection[str] | None:
        """The formats of a and b; None if any floating-point format is taken."""
        return None

    def _accumulators(self) -> Collection[str] | None:
        """The formats of c; None if any floating-point format is taken."""
        return None

    @abstractmethod
    def _validate(self) -> None:
        """Check and coerce the keys of this operation."""

    @property
    @abstractmethod
    def d(self) -> Format:
        """Format of the result."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Products that one step consumes."""

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """The sums of one step as data (golden.operations.structure)."""

    @property
    def no_c(self) -> int:
        """The code of c with which a step gives ρ(Σ a_k·b_k): the zero that changes no sum, nor the sign of one that is
        zero."""
        rho = self.structure.rho
        is_negative = self.structure.zero == "ieee" and not (rho is not None and rho.mode == "RD")
        return self.c.negative_zero if is_negative else 0

    @property
    def product_frac(self) -> int:
        """Fraction bits of an exact product's significand."""
        return self.a.man_bits + self.b.man_bits

    @property
    def product_exp_min(self) -> int:
        """The smallest exponent of a product; a zero product gets it if its exponent must not affect the alignment."""
        return self.a.e_min + self.b.e_min

    @property
    def is_native(self) -> bool:
        """Whether the native library computes the operation, with these formats. The reference engine computes any."""
        return True

    @property
    def scale_format(self) -> Format | None:
        """Format of the scales, None if the operation has none."""
        return None

    @property
    def block_size(self) -> int | None:
        """Elements that share a scale (K_block), None if the operation has no scales."""
        return None

    @property
    def scale_operands(self) -> tuple[str, ...]:
        """The operands that hold scales. The other of `scale_a` and `scale_b` has no port and no bin, and no step reads it;
        where the operation has a scale format, rows hold the code of 1 in its place, which the library reads."""
        return ()

    @property
    def scales_per_step(self) -> int:
        """Number of scales of A (and of B) that one step takes."""
        return 0 if self.block_size is None else max(1, self.length // self.block_size)

    @abstractmethod
    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        """Compute one step: the code of d from `length` codes of a and b, one of c, and `scales_per_step` scales."""

    def with_length(self, length: int) -> Self:
        """The same operation over a shorter vector (numerics.md, section 5: L = min(K, L_max))."""
        return self.changed(L=length)

    def accumulating(self) -> Self:
        """The operation of the second and later steps of a chain, whose c is the d of the step before.

        Raises:
            ValueError: the operation cannot take its own result as c.
        """
        if "c" not in self.operands:
            raise ValueError(f"{self.name} has no c, so that it cannot be chained: K must be {self.length}")
        if self.c == self.d:
            return self
        taken = self._accumulators()
        if taken is not None and self.d not in [FORMATS[name] for name in taken]:
            raise ValueError(
                f"{self.name} with d in {self.d} cannot be chained: its c must be one of {listed(taken)}; "
                f"take K ≤ L={self.length}, or a rho that gives one of those"
            )
        return self.changed(c=self.d)

    def changed(self, **keys: Any) -> Self:
        """A copy with some keys replaced, validated again."""
        return replace(self, **keys)

    @property
    def carried(self) -> Self:
        """The operation on the carriers of elements without fields; the operation itself if it has none."""
        a, b = self.a.carried_by, self.b.carried_by
        return self if a is self.a and b is self.b else self.changed(a=a, b=b)

    def carried_codes(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Codes of elements of a and b as `carried` has them, arrays of any shape."""
        return self.a.carried_codes(a), self.b.carried_codes(b)

    def with_steps(self, **steps: Any) -> Self:
        """The operation with some of its steps replaced by other functions, as an instance of a derived class.

        Only the reference engine computes it.
        """
        cls = type(self)
        derived: type[Self] = type(cls.__name__, (cls,), steps)
        return derived(**{f.name: getattr(self, f.name) for f in fields(self) if f.init})

    @classmethod
    def unit_keys(cls) -> dict[str, bool]:
        """The keys of a unit file, each with whether it is required; the optional ones come last."""
        required = {f.name: f.default is MISSING for f in fields(cls) if f.init}
        names = [name for name in required if name not in cls.own_keys]
        return {name: required[name] for name in (*names, *cls.own_keys)}

    @classmethod
    def of_keys(cls, keys: Mapping[str, Any], named: str) -> Self:
        """The operation with the keys of a unit file.

        Args:
            named: what the keys are of, in messages.

        Raises:
            ValueError, TypeError: an unknown, missing or out-of-range key.
        """
        allowed = cls.unit_keys()
        for key in keys:
            if key not in allowed:
                raise ValueError(unknown(f"{named} key", key, list(allowed)))
        missing = [key for key, required in allowed.items() if required and key not in keys]
        if missing:
            raise ValueError(f"{named} is missing {listed(missing)}; its keys are {listed(allowed)}")
        return cls(**keys)

    def parameters(self) -> dict[str, str | int]:
        """The keys and values for a unit file; optional keys only if they differ from their defaults."""
        values = {key: getattr(self, key) for key in self.unit_keys()}
        shown = {key: value for key, value in values.items() if key not in self.own_keys or value != self._default(key)}
        return {key: value if isinstance(value, int) else str(value) for key, value in shown.items()}

    def _default(self, key: str) -> Any:
        """The default of an optional key of a unit file."""
        return next(f.default for f in fields(self) if f.name == key)

    def nan_is_fixed(self) -> bool:
        """Whether a NaN result has one encoding; if False, any NaN equals any NaN (numerics.md, section 3)."""
        return False


def format_of(key: str, value: Format | str, choices: Collection[str] | None) -> Format:
    """A format that is given by itself or by its name in golden, if it is among `choices`; None stands for every
    floating-point format, for formats by table, and for integers, which become elements.

    Raises:
        ValueError: another format, or no format at all; the message names the key and the choices.
    """
    if choices is None:
        value = named_integer(value) or value if isinstance(value, str) else value
        if isinstance(value, IntegerFormat):
            return integer_element(value)
        if isinstance(value, Format):
            return value
        choices = [name for name, form in FORMATS.items() if not isinstance(form, IntegerFormat)]
    if isinstance(value, Format) and value in [FORMATS[name] for name in choices]:
        return value
    name = value.name if isinstance(value, Format) else value
    if not isinstance(value, Format) or name not in choices:
        check_choice(key, name, choices)
        return FORMATS[name]
    raise ValueError(f"{key} must be golden's own {name}, got another format of that name")


def check_addend(key: str, value: Format) -> None:
    """Raise ValueError unless a format of fields has a sign and no padding, as that of a sum must."""
    if isinstance(value, CodedFormat):
        raise ValueError(f"{key} must be a floating-point format with fields, got {value}, as a and b alone may be")
    if not value.signed or value.pad_bits:
        raise ValueError(f"{key} must be a format with a sign and without padding, got {value}")


def check_flag(key: str, value: object) -> None:
    """Raise unless the value of a key is a boolean."""
    if not isinstance(value, bool):
        raise TypeError(f"{key} must be true or false, without quotes, got {value!r}")


def check_length(value: int) -> None:
    """Raise unless the key L is an integer from 1 to MAX_LENGTH."""
    check_int("L", value, 1, MAX_LENGTH)


def check_fraction(key: str, value: int) -> None:
    """Raise unless the key F or F2 is an integer from 1 to MAX_FRACTION."""
    check_int(key, value, 1, MAX_FRACTION)


def check_truncation(value: str, modes: Collection[str]) -> None:
    """Raise unless the key truncation is one of the modes."""
    check_choice("truncation", value, modes)


def check_e_zero(value: int) -> None:
    """Raise unless the key e_zero is an integer from −EXPONENT_LIMIT to EXPONENT_LIMIT."""
    check_int("e_zero", value, -EXPONENT_LIMIT, EXPONENT_LIMIT)
