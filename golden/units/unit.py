"""A unit: a named operation with `.dot`, and the implementation options of its circuit."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import product
from math import lcm
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype, from_bits, to_bits
from golden.chains.chain import Chain, ChainTable, chain_of
from golden.chains.sum_chain import SumTable, check_sums
from golden.checks import check_choice, check_clock, check_int, check_name, check_type, listed, named_registers
from golden.operations import Operation
from golden.units.controls import (
    MASK,
    METADATA,
    MOST_CHOICES,
    OPERANDS,
    RANDOM,
    ZERO_POINTS,
    Control,
    Source,
    arithmetic,
    check_places,
)
from golden.units.model import Model
from golden.units.operand_inputs import (
    check_given,
    drawn_mask,
    drawn_metadata,
    drawn_zeros,
    on_differences,
    selected_from,
    without_idle,
    without_zeros,
    zeros_of,
)
from golden.units.random_dot import random_dot, with_random_step
from golden.units.selection import scattered

if TYPE_CHECKING:
    from golden.trace import Trace

ENCODINGS = ("sign-magnitude", "ones-complement", "twos-complement")
"""Values of `encoding`: how negative numbers are represented inside the aligned sum. The choice never changes a result."""

ADDERS = ("brent-kung", "sklansky", "kogge-stone")
"""Values of `adder`: the shape of the prefix network in the last adder of the aligned sum. The choice never changes a
result."""

MULTIPLIERS = ("array", "carry-save", "booth")
"""Values of `multiplier`: how significands are multiplied. The choice never changes a result."""

NORMALISERS = ("whole", "narrowing")
"""Values of `normaliser`: how the total is shifted before it is rounded. The choice never changes a result."""

ROUNDERS = ("increment", "compound")
"""Values of `rounder`: how a one is added in the last place. The choice never changes a result."""

ACCUMULATORS = ("aligned", "long")
"""Values of `accumulator`: where the terms of an exact sum are shifted. The choice never changes a result."""

MAX_STAGES = 8

CIRCUIT_CHOICES: dict[str, tuple[str, ...]] = {
    "max_exp": ("tree", "pairwise"),
    "reduction": ("carry-save", "adder-tree"),
    "leading_zeros": ("count", "anticipate"),
    "result_exp": ("serial", "parallel"),
}
"""Keys of `Implementation` that choose the circuit of one step, each with its choices; the first choice is the default."""

LATER_KEYS: dict[str, tuple[str, ...]] = {
    "adder": ADDERS,
    "multiplier": MULTIPLIERS,
    "normaliser": NORMALISERS,
    "rounder": ROUNDERS,
    "accumulator": ACCUMULATORS,
}
"""Further keys that choose the circuit of one step; a file or a digest holds them only if they are not the default."""

PLACEMENT: dict[str, Any] = {"registers": (), "clock_ns": None, "library": None}
"""Keys that place pipeline registers and name the cells, with their defaults; a file or a digest holds them only if they
are given."""


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """The implementation options of a unit's circuit; none of them changes a result.

    n is the number of terms of a sum. docs/evidence/area.md measures the cost of each choice on an fp16 unit of four
    products: percentages below refer to the cells and to the critical path of that unit.

    Attributes:
        encoding: one of `ENCODINGS`, how negative terms enter the sum. `sign-magnitude`: positive and negative terms are
            reduced separately, then together. `ones-complement`: a negative term is inverted; the missing increments enter
            as single bits in empty positions of the reduced rows, without an incrementer. It is the smallest, by about
            5 and 11 %, and the shallowest. `twos-complement`: every term has an incrementer.
        stages: pipeline registers, 0 (combinational) to 8.
        max_exp: how the largest exponent is found. `tree`: n − 1 compare-and-select cells in ⌈log2 n⌉ levels, then one
            subtractor per term for its shift. `pairwise`: all n·(n − 1) differences at once; the selected row of
            them holds every term's shift. It is 3 to 5 % less deep at n = 5 for about as many cells; cells grow with n².
        reduction: how the aligned terms are reduced to two, which a final adder sums. `carry-save`: layers of full adders,
            without carries. `adder-tree`: levels of carry-propagate adders; up to 4 % larger and 10 to 20 % deeper.
        leading_zeros: how the normalising shift of a total is found. `count`: its leading zeros are counted after the
            final adder. `anticipate`: they are predicted from the two operands of that adder, at most two too few; a final
            shift by 0, 1 or 2 corrects that. Up to 6 % more cells for at most 5 levels less; deeper in two's complement,
            where the correction costs more than the prediction gains.
        result_exp: how a carry out of rounding enters the result's exponent. `serial`: an adder of the result's width, after
            the rounding, adds it to the packed result. `parallel`: the exponents with and without a carry are both computed
            during the rounding and one is selected; up to 2 % more cells, 1 to 5 levels less.
        adder: one of `ADDERS`, the network of carries in the adder that ends the sum. `brent-kung`: the smallest, about
            2·log2(n) rows. `sklansky`, `kogge-stone`: log2(n) rows; 0.7 and 1.1 % more cells, 3 and 18 levels less
            (docs/evidence/architectures.md).
        multiplier: one of `MULTIPLIERS`, how significands are multiplied. `array`: as Yosys builds a product. `carry-save`:
            a row for each bit of a factor, by full adders to two rows. `booth`: the same of a row for each radix-4 digit,
            half as many. The two rows meet in a prefix adder of the form `adder`; those of an FMA in ones' complement enter
            the sum without one. IDPA and datapaths of several formats do not have this key's circuits
            (docs/evidence/architectures.md).
        normaliser: one of `NORMALISERS`, how a total is shifted before it is rounded. `whole`: all of its bits. `narrowing`:
            by the largest distance first, and a bit that can no longer reach the result becomes sticky at once. It spares
            cells and levels where ρ depends on all bits: not where it is RZ, and not in TR- and GTR-FDPA, which truncate
            first.
        rounder: one of `ROUNDERS`, how one is added in the last place. `increment`: once it is known whether. `compound`:
            both significands are formed meanwhile and one is selected; fewer levels. RZ and RO add nothing.
        accumulator: one of `ACCUMULATORS`, what the terms of E-FDPA are shifted in. `aligned`: every term below the
            largest exponent that any can have. `long`: every term in the places that its own format can reach, whose
            place in the sum is fixed; fewer cells (docs/evidence/architectures.md).
        registers: the steps that a register follows, as many as `stages`, the last step among them; `operands` is a register
            in front of the first. `multiply_rows`, `accumulate_rows` and `normalise_count` stand inside of a step: in front
            of its adder, or of its shift. Without these names, formulas of each step's depth place the registers.
        clock_ns: a clock period (ns) in place of `stages` and `registers`, which `rtl.meet_clock` finds by static timing
            analysis (docs/guides/explore-cost.md).
        library: the cell library of that analysis and of the circuit's cost, as `rtl.cost.library_files` takes it; None for
            the default there.
    """

    encoding: str = "ones-complement"
    stages: int = 0
    max_exp: str = "tree"
    reduction: str = "carry-save"
    leading_zeros: str = "count"
    result_exp: str = "serial"
    adder: str = ADDERS[0]
    multiplier: str = MULTIPLIERS[0]
    normaliser: str = NORMALISERS[0]
    rounder: str = ROUNDERS[0]
    accumulator: str = ACCUMULATORS[0]
    registers: tuple[str, ...] = ()
    clock_ns: float | None = None
    library: str | None = None

    def as_table(self) -> dict[str, Any]:
        """The keys as files and digests have them; those that later versions added are present only if they are not the
        default."""
        defaults = {key: choices[0] for key, choices in LATER_KEYS.items()} | PLACEMENT
        return {key: value for key, value in asdict(self).items() if key not in defaults or value != defaults[key]}

    @property
    def combinational(self) -> Self:
        """A copy of the implementation without pipeline registers."""
        return replace(self, stages=0, **PLACEMENT)

    def __post_init__(self) -> None:
        check_choice("encoding", self.encoding, ENCODINGS)
        for key, choices in LATER_KEYS.items():
            check_choice(key, getattr(self, key), choices)
        check_int("stages", self.stages, 0, MAX_STAGES)
        for key, choices in CIRCUIT_CHOICES.items():
            check_choice(key, getattr(self, key), choices)
        if self.library is not None:
            check_name("library of an implementation", self.library)
        check_clock(self.clock_ns, self.stages, self.registers)
        object.__setattr__(self, "registers", named_registers(self.registers, self.stages))


FEEDS = ("broadcast", "systolic")
"""Values of `feed`: whether operands reach all elements of an array at once, or from neighbour to neighbour."""

DECODERS = ("each", "edge")
"""Values of `decoders`: whether every element decodes its operands, or the edge of the array does."""

STATIONARY = ("outputs", "weights")
"""Values of `stationary`: whether sums stay in the elements of an array while operands pass, or b does while sums pass."""

MAX_SIDE = 256
"""Largest number of rows, or of columns, of an array; the largest published instruction has 256 columns."""

MAX_STEPS = 1024
"""Largest number of steps of a result of an array."""


@dataclass(frozen=True, kw_only=True)
class Array:
    """An array of a unit's datapaths, D = A·B + C; no key changes a result.

    Attributes:
        rows, columns: of elements. An element by itself is 1 x 1.
        steps: steps of a result: K = steps · L; where weights stay, those for which they are changed: K = steps · rows · L.
        feed: one of `FEEDS`. `systolic`: an operand takes a cycle from element to element, and row i and column j get theirs
            i and j cycles late.
        decoders: one of `DECODERS`.
        double_buffer: whether a finished result moves to registers of its own, so that the next one begins; where weights
            stay, whether the next ones wait in registers of their own.
        stationary: one of `STATIONARY`. `weights`: the element in row i holds L elements of a column of B, adds their
            products to the sum that comes from row i - 1, and hands it on; a bank below holds the sums of `depth` rows of A.
        depth: rows of A that pass while weights stay, and of D; 1 where outputs stay.
    """

    rows: int
    columns: int
    steps: int = 1
    feed: str = FEEDS[0]
    decoders: str = DECODERS[0]
    double_buffer: bool = False
    stationary: str = STATIONARY[0]
    depth: int = 1

    def __post_init__(self) -> None:
        check_int("rows of an array", self.rows, 1, MAX_SIDE)
        check_int("columns of an array", self.columns, 1, MAX_SIDE)
        check_int("steps of an array", self.steps, 1, MAX_STEPS)
        check_choice("feed", self.feed, FEEDS)
        check_choice("decoders", self.decoders, DECODERS)
        check_type("double_buffer", self.double_buffer, bool)
        check_choice("stationary", self.stationary, STATIONARY)
        check_int("depth of an array", self.depth, 1, MAX_SIDE)
        if self.depth > 1 and not self.keeps_weights:
            rule = 'goes with stationary = "weights" (rows of A that pass them)'
            raise ValueError(f"depth of an array {rule}, got {self.depth}")

    @property
    def keeps_weights(self) -> bool:
        """Whether b stays in the elements."""
        return self.stationary == "weights"

    @property
    def wave(self) -> int:
        """Cycles by which operands reach the last element, or where weights stay the last of a row, behind the first."""
        if self.feed == "broadcast":
            return 0
        return self.columns - 1 if self.keeps_weights else self.rows + self.columns - 2

    def as_table(self) -> dict[str, Any]:
        """The keys; `stationary` and `depth` only where weights stay."""
        found = asdict(self)
        return found if self.keeps_weights else {key: found[key] for key in found if key not in ("stationary", "depth")}


@dataclass(frozen=True, kw_only=True)
class Unit(Model):
    """A named user design: an operation, and how it is chained over K.

    Attributes:
        name: its name in reports and in generated Verilog.
        operation: the elementary operation of one step.
        implementation: the options of its circuit; they never change a result.
        chain: how steps are chained over K; in order of k by default.
        converted: formats of a and b before `chain` converts them to fp16; None if it does not convert.
        sums: the program of sums that the unit computes in place of its operation, which names the formats; or None.
        controls: inputs of its circuit that choose the arithmetic. Such a unit has no `dot`: each of its `choices` has.
            Random bits, metadata and a mask, which are operands, choose nothing.
        array: the array of such datapaths that its circuit is; None for one datapath.
    """

    name: str
    operation: Operation
    implementation: Implementation = field(default_factory=Implementation)
    chain: ChainTable = field(default_factory=ChainTable)
    converted: tuple[Format, Format] | None = None
    sums: SumTable | None = None
    controls: tuple[Control, ...] = ()
    array: Array | None = None

    def __post_init__(self) -> None:
        check_name("key name", self.name)
        check_type("operation of a unit", self.operation, Operation)
        check_type("implementation of a unit", self.implementation, Implementation)
        check_type("chain of a unit", self.chain, ChainTable)
        if (self.converted is None) != (self.chain.convert is None):
            raise ValueError(f"{self.name}: the formats before the conversion go with [chain] convert, and only with it")
        self.chain.check(self.operation, self.a, self.b)
        if self.sums is not None:
            check_type("sums of a unit", self.sums, SumTable)
            check_sums(self.operation, self.sums)
            if self.chain != ChainTable():
                raise ValueError(f"{self.name}: [sums] goes without [chain]: it has the whole order of additions")
        if self.array is not None:
            check_type("array of a unit", self.array, Array)
            if self.implementation.clock_ns is None:
                check_int("stages of an array", self.implementation.stages, 1, MAX_STAGES)
            if self.sums is not None or self.controls:
                raise ValueError(
                    f"{self.name}: [array] goes without [sums] and [controls]: its elements take steps of a unit"
                )
        if self.controls:
            if self.sums is not None or self.chain != ChainTable():
                raise ValueError(f"{self.name}: [controls] goes without [chain] and [sums]: it chooses one step of a unit")
            for operation in (choice.unit.operation for choice in self.choices if self.mask):
                multiplies = {"a", "b"} <= {*operation.operands} and not operation.structure.adds_elements
                if not (multiplies and operation.a.starts_at_zero and operation.b.starts_at_zero):
                    raise ValueError(
                        f"{self.name}: [controls] {self.mask} masks products of a and b whose code 0 is +0, as an idle one "
                        f"counts; got {operation.name} with a = {operation.a}, b = {operation.b}: leave the mask out"
                    )
            for choice in self.choices if self.metadata else ():
                operation = choice.unit.operation
                multiplies = {"a", "b"} <= {*operation.operands} and not operation.structure.adds_elements
                moves = any(source.port != name for name, source in choice.places.items())
                if not multiplies or moves or operation.length % 2 or operation.scale_format is not None:
                    raise ValueError(
                        f"{self.name}: [controls] {self.metadata} selects two of each four elements of b, which goes with "
                        "an even number of products, without scales, of operands at their own ports; got "
                        f"{operation.name} with L = {operation.length}, scale = {operation.scale_format}"
                        f"{choice.name and ', '}{choice.name}"
                    )
            self._check_zeros()
            if self.random is not None and len(self.controls) == 1:  # each choice is such a unit
                with_random_step(self)

    def _check_zeros(self) -> None:
        """Raise ValueError for zero points of what has none, and beside other operands that inputs add."""
        ports = self.zeros
        others = [
            control.port for control in self.controls if control.key in OPERANDS and control.port not in ports.values()
        ]
        if ports and others:
            where = f"{self.name}: [controls] {listed(ports.values())}"
            raise ValueError(f"{where}: zero points go without other operands, got {listed(others)}")
        for choice in self.choices if ports else ():
            try:
                if choice.places:
                    raise ValueError(
                        f"zero points go with operands at their own ports, got {listed(choice.places)} elsewhere"
                    )
                on_differences(choice.unit.operation, ports)
            except ValueError as error:
                raise ValueError(f"{self.name}: [controls] {listed(ports.values())}: {error}") from error

    @cached_property
    def choices(self) -> "tuple[Choice, ...]":
        """Every combination of values of its controls, with the unit that it chooses; of a unit without controls, itself.

        Raises:
            ValueError: a combination that no unit has.
        """
        return choices_of(self)

    @property
    def mask(self) -> str:
        """The port of its control that masks products; empty if it has none."""
        return self._port_of(MASK)

    @property
    def metadata(self) -> str:
        """The port of its control that selects elements of b; empty if it has none."""
        return self._port_of(METADATA)

    @property
    def zeros(self) -> dict[str, str]:
        """The port of its control with zero points, of each operand, a or b, that has one."""
        return {ZERO_POINTS[control.key]: control.port for control in self.controls if control.key in ZERO_POINTS}

    @property
    def on_differences(self) -> "Unit":
        """The unit of elements q − z that computes the results of one with zero points; without these the unit itself."""
        if not self.zeros:
            return self
        kept = tuple(control for control in self.controls if control.key not in ZERO_POINTS)
        return replace(self, operation=on_differences(self.operation, self.zeros), controls=kept)

    def _port_of(self, key: str) -> str:
        return next((control.port for control in self.controls if control.key == key), "")

    @property
    def random(self) -> Control | None:
        """Its control with random bits, if it has one."""
        return next((control for control in self.controls if control.random is not None), None)

    def _check_chosen(self, takes_inputs: bool = False) -> None:
        """Raise ValueError where controls choose the arithmetic, and where they are operands, unless these are taken."""
        ports = listed(control.port for control in self.controls)
        if any(control.key not in OPERANDS for control in self.controls):
            raise ValueError(f"{self.name} has [controls], {ports} choose its arithmetic: take one of its `choices`")
        if not self.controls or takes_inputs:
            return
        if self.random is not None:
            raise ValueError(
                f"{self.name} rounds by random bits, its [controls] {self.random.port}: dot takes them, as random, for "
                "one step; explain, chains, arrays and products of matrices do not"
            )
        keys = listed(control.key for control in self.controls)
        raise ValueError(f"{self.name} has [controls] {ports}: dot and explain take {keys}, products of matrices do not")

    def _products(self, a: Any, b: Any, given: dict[str, Any]) -> tuple[Any, Any]:
        """a and b of the products that are computed: those of b that metadata select, and +0 where a mask has 0."""
        check_given(self.name, given, {control.key for control in self.controls})
        if given[METADATA] is not None:
            b = selected_from(self.name, a, b, self.b, given[METADATA])
        operands, block = {"a": a, "b": b}, self.operation.block_size
        for name in self.zeros:
            operands[name] = without_zeros(name, operands[name], getattr(self, name), given[f"zero_{name}"], block)
        a, b = operands.values()
        if given[MASK] is not None:
            a, b = (without_idle(self.name, *each, given[MASK]) for each in (("a", a, self.a), ("b", b, self.b)))
        return a, b

    def dot(
        self,
        a: Any,
        b: Any = None,
        c: Any = None,
        scale_a: Any = None,
        scale_b: Any = None,
        engine: str | None = None,
        *,
        flags: bool = False,
        random: Any = None,
        metadata: Any = None,
        mask: Any = None,
        zero_a: Any = None,
        zero_b: Any = None,
    ) -> Any:
        """As `Model.dot`; of a unit with random bits one step. Of the further arguments a unit takes those that its table
        `[controls]` has.

        Args:
            random: the random bits of each row, unsigned integers [...].
            metadata: a code of `golden.units.selection.PAIRS_OF_FOUR` for each four elements of b, integers [..., K/2]; b is
                then [..., 2K].
            mask: 1 for each product that counts, 0 for each that is idle, integers [..., K].
            zero_a, zero_b: zero points, of the format of the elements: one for each block, [..., ⌈K/K_block⌉], or where the
                operation has no blocks one, [..., 1].

        Raises:
            ValueError: also an argument that is missing, out of range, or of a unit without.
        """
        given = {RANDOM: random, METADATA: metadata, MASK: mask, "zero_a": zero_a, "zero_b": zero_b}
        if not self.controls and all(each is None for each in given.values()):
            return super().dot(a, b, c, scale_a, scale_b, engine, flags=flags)
        self._check_chosen(takes_inputs=True)
        if self.zeros and c is None:  # of the kind of a, whose differences are codes
            c = from_bits(np.zeros(to_bits("a", a, self.a).shape[:-1], bits_dtype(self.c)), self.c, a)
        a, b = self._products(a, b, given)
        if self.random is None:
            return replace(self.on_differences, controls=()).dot(a, b, c, scale_a, scale_b, engine, flags=flags)
        if flags:
            raise ValueError(f"flags must be false: {self.name} rounds by random bits, for which no flags are defined")
        return random_dot(self, (a, b, c, scale_a, scale_b), random, engine)

    def explain(
        self,
        a: Any,
        b: Any = None,
        c: Any = None,
        scale_a: Any = None,
        scale_b: Any = None,
        *,
        metadata: Any = None,
        mask: Any = None,
        zero_a: Any = None,
        zero_b: Any = None,
    ) -> "Trace":
        """As `Model.explain`; metadata, mask, zero_a, zero_b: as in `dot`. Of codes with zero points it shows q − z."""
        given = {RANDOM: None, METADATA: metadata, MASK: mask, "zero_a": zero_a, "zero_b": zero_b}
        self._check_chosen(takes_inputs=self.random is None)
        a, b = self._products(a, b, given)
        return Model.explain(replace(self.on_differences, controls=()), a, b, c, scale_a, scale_b)

    def drawn_inputs(self, b: BitArray, rng: np.random.Generator) -> dict[str, Any]:
        """What `dot` takes beside rows of a stimulus, drawn for its `[controls]`, by argument; and a longer b, from which
        metadata select that of the rows. b: codes [rows, K]."""
        found: dict[str, Any] = {}
        if self.random is not None:
            found[RANDOM] = rng.integers(0, 1 << self.random.width, len(b), np.uint64)
        if self.metadata:
            found[METADATA], others = drawn_metadata(b, rng)
            found["b"] = scattered(b, others, found[METADATA])
        for name in self.zeros:
            found[f"zero_{name}"] = drawn_zeros(getattr(self, name), (len(b), zeros_of(self.operation, b.shape[1])), rng)
        return found | ({MASK: drawn_mask(b.shape, rng)} if self.mask else {})

    @property
    def a(self) -> Format:
        """Format of the elements of A, before the chain converts them."""
        return self.operation.a if self.converted is None else self.converted[0]

    @property
    def b(self) -> Format:
        """Format of the elements of B, before the chain converts them."""
        return self.operation.b if self.converted is None else self.converted[1]

    @property
    def step(self) -> "Unit":
        """The unit of one step, without the chain: the function of a datapath; a program of sums is one step.

        Raises:
            ValueError: controls choose the arithmetic.
        """
        self._check_chosen(takes_inputs=True)
        if self.chain == ChainTable() and self.array is None:
            return self
        return replace(self, chain=ChainTable(), converted=None, array=None)

    @property
    def usual_K(self) -> int:
        """Products per dot product of a stimulus: one step; at least two with a table [chain], to exercise the chain."""
        if self.sums is not None:
            return self.sums.K or (self.sums.group if self.sums.scaled else lcm(self.sums.group or 1, 8))
        if self.chain == ChainTable():
            return self.operation.length
        return lcm(2 * self.operation.length, 4, self.chain.group)

    def chain_over(self, K: int) -> Chain:
        """The chain over K products.

        Raises:
            TypeError, ValueError: K does not fit.
        """
        self._check_chosen()
        if self.sums is not None:
            self.sums.check_length(K)
            return Chain(self.operation, sums=self.sums)
        return chain_of(self.operation, self.chain, self.converted, K)

    def products_of(self, a: Any, shape: str) -> int:
        """K of an operand a.

        Raises:
            TypeError: a wrong dtype. ValueError: a has no K.
        """
        bits = to_bits("a", a, self.a)
        K = bits.shape[-1] if bits.ndim else 0
        if not K:
            raise ValueError(f"a must have shape {shape} with K at least 1, got {bits.shape}")
        return K


@dataclass(frozen=True)
class Choice:
    """The arithmetic that one combination of values of a unit's controls chooses.

    Attributes:
        name: the values as text; empty where there are none. unit: the arithmetic, without controls.
        codes: the code of each control that has values. values: the value itself, as text.
        places: where each operand of the unit comes from.
    """

    name: str
    unit: "Unit"
    codes: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Source] = field(default_factory=dict)

    def source(self, operand: str) -> Source:
        """Where an operand comes from."""
        return self.places.get(operand, Source(operand))


def choices_of(unit: "Unit") -> tuple[Choice, ...]:
    """Every combination of the values of a unit's controls, with the unit that it chooses.

    Raises:
        ValueError: too many combinations, or a unit that cannot be; the message names the values.
    """
    controls = [control for control in unit.controls if control.key not in OPERANDS]
    kept = tuple(control for control in unit.controls if control.key == RANDOM or control.key in ZERO_POINTS)
    plain = unit if kept == unit.controls else replace(unit, controls=kept)
    many = 1
    for control in controls:
        many *= len(control.values)
    if many > MOST_CHOICES:
        raise ValueError(f"[controls] must have at most {MOST_CHOICES} combinations of values, got {many}")
    return tuple(
        _choice(plain, list(zip(controls, places, strict=True)))
        for places in product(*(range(len(control.values)) for control in controls))
    )


def _choice(unit: "Unit", chosen: Sequence[tuple[Control, int]]) -> Choice:
    if not chosen:
        return Choice("", unit)
    values = [(control, control.values[place]) for control, place in chosen]
    name = ", ".join(f"{control.port} = {value}" for control, value in values)
    try:
        operation, places = arithmetic(unit.operation, [value for _, value in values])
        check_places(unit.operation, operation, places)
    except (TypeError, ValueError) as error:
        raise ValueError(f"[controls] {name}: {error}") from error
    codes = {control.port: control.codes[place] for control, place in chosen}
    texts = {control.port: str(value) for control, value in values}
    return Choice(name, replace(unit, name=f"{unit.name}, {name}", operation=operation), codes, texts, places)
