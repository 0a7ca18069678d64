"""The base class of every datapath: ports, a handshake, and steps with boundaries between them for pipeline registers."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden import Cls, Format, Implementation, Operation
from golden.arithmetic.flags import FLAGS
from golden.arithmetic.rounding import Mode
from golden.checks import listed
from golden.operations.exact_sum import ExactSum
from rtl.datapath.fused_records import Code, DecodedOperands, Operands
from rtl.datapath.pipeline import Pipeline, balanced_boundaries
from rtl.datapath.step import Build, Step, Steps, cut_inside
from rtl.steps.component import AnyComponent, SharedModules, never_built
from rtl.steps.decode import Decode
from rtl.steps.interfaces import Operand
from rtl.steps.step_record import Beside, Modes, Record

OPERANDS = "operands"
"""Name of the boundary in front of the first step."""


class ModeInput(NamedTuple):
    """An input that chooses the rounding mode: its name, its width, and the mode that each code chooses."""

    name: str
    width: int
    table: tuple[tuple[int, Mode], ...]


_CHECKED: set[Hashable] = set()
"""Keys of the step lists that `Datapath._check_steps` has already checked."""


class Datapath(AnyComponent):
    """A unit in hardware: d from a, b, c and, where scaled, scale_a and scale_b.

    Latency: `implementation.stages` cycles without stalls; throughput: one result a cycle.

    Args:
        operation: the golden parameter object.
        implementation: how it is built.
        modes: the name and the width of an input that chooses the rounding mode, and the mode that each code chooses.

    Members:
        a, b: In(length·w), element k in bits [k·w, (k+1)·w), w the format's width.
        scale_a, scale_b: In(scales·w), those that the operation has.
        c: In(width of c), where the operation has one. d: Out(width of d). flags: Out(5), where the unit has them.
        in_valid, in_ready, out_valid, out_ready: with stages > 0; a transfer happens when valid and ready are both high.
    """

    operation: Operation
    a: Signal
    b: Signal
    c: Signal
    scale_a: Signal
    scale_b: Signal
    d: Signal
    flags: Signal
    in_valid: Signal
    in_ready: Signal
    out_valid: Signal
    out_ready: Signal

    def __init__(self, operation: Operation, implementation: Implementation, modes: ModeInput | None = None) -> None:
        self.operation, self.implementation, self._modes = operation, implementation, modes
        members = self.input_members(operation)
        #: Names of the ports that hold operands.
        self.inputs = tuple(members)
        if modes is not None:
            members[modes.name] = In(modes.width)
        members["d"] = Out(operation.d.width)
        if has_flags(operation):
            members["flags"] = Out(len(FLAGS))
        if implementation.stages:
            members |= {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(members)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        """The input ports that hold operands."""
        members = {
            "a": In(operation.length * operation.a.width),
            "b": In(operation.length * operation.b.width),
            "c": In(operation.c.width),
        }
        members = {name: members[name] for name in operation.operands}
        if operation.scale_format is not None:
            scales = operation.scales_per_step * operation.scale_format.width
            members |= {name: In(scales) for name in operation.scale_operands}
        return members

    @abstractmethod
    def steps(self) -> Steps[Any, Code]:
        """The steps in order, from the operands to the result."""

    def operands(self) -> Record:
        """The operand ports as the record that the first step takes."""
        return Operands(**{name: getattr(self, name) for name in self.inputs})

    def beside(self) -> Beside | None:
        """The operand of the last step alone, if there is one."""
        return None

    def settles_steps(self) -> tuple[Hashable, ...]:
        """Everything, beside the class, that determines the steps and what they build."""
        return (self.operation, self.implementation.combinational, self._modes)

    @property
    def latency(self) -> int:
        """Cycles from an input transfer to its result if nothing stalls."""
        return self.implementation.stages

    def elaborate(self, platform: object) -> Module:
        """The circuit.

        Raises:
            HandOffError: a step that does not give what it declares, or leaves values unread.
            ValueError: registers that are no boundaries in their order.
        """
        return self.circuit(self, self.operands(), platform)

    def circuit(self, ports: "Datapath | DecodedDatapath", operands: Record, platform: object) -> Module:
        """The circuit of a component with the handshake and the results of this one; errors as of `elaborate`.

        Args:
            ports: the component. operands: what the first step takes.
        """
        stages = self.implementation.stages
        chosen = placed_registers(list(self.steps()), self.implementation)
        steps = cut_inside(self.steps(), chosen)
        self._check_steps(steps)
        m = Module()
        handshake = (ports.in_valid, ports.out_ready) if stages else (Value.cast(1), Value.cast(1))
        pipeline = Pipeline(m, chosen, *handshake)
        if stages:
            m.d.comb += [ports.in_ready.eq(pipeline.in_ready), ports.out_valid.eq(pipeline.out_valid)]
        m.d.comb += driven(ports, self._chain(Build(m, platform), steps, pipeline, operands))
        return m

    def _chain(
        self, build: Build, steps: Sequence[Step[Any, Any]], pipeline: Pipeline, operands: Record | None = None
    ) -> Code:
        """The steps one after the other, with the pipeline's registers between them.

        Args:
            operands: what the first step takes; None for the operand ports.
        """
        record: Any = pipeline.crossed(OPERANDS, self.operands() if operands is None else operands)
        if self._modes is not None:
            build.modes = pipeline.crossed(OPERANDS, Modes(getattr(self, self._modes.name), self._modes.table))
        beside = self.beside()
        build.beside_steps = None if beside is None else pipeline.crossed(OPERANDS, beside)
        for step in steps:
            build.decoded = record.by_name if isinstance(record, DecodedOperands) else {}
            record = pipeline.crossed(step.point, step.run(build, record))
            if build.modes is not None and step is not steps[-1]:
                build.modes = pipeline.crossed(step.point, build.modes)
            if build.beside_steps is not None and step is not steps[-1]:
                build.beside_steps = pipeline.crossed(step.point, build.beside_steps)
        for point in pipeline.points_after(steps[-1].point):
            record = pipeline.crossed(point, record)
        code: Code = record
        return code

    def _check_steps(self, steps: Sequence[Step[Any, Any]]) -> None:
        """Build the steps with a register at every boundary, and drop the result. Each value at a boundary is then a signal
        of its own, so that a step which leaves one unread cannot seem to read it by way of another. Units of the same steps
        are checked once."""
        key = (type(self), *self.settles_steps(), *boundaries(steps))
        if key in _CHECKED:
            return
        m = Module()
        never_built(m)
        self._chain(Build(m, SharedModules("check")), steps, Pipeline(m, boundaries(steps), Value.cast(1), Value.cast(1)))
        _CHECKED.add(key)


class WithoutHandshake(AnyComponent):
    """The steps of a datapath without its handshake.

    Args:
        datapath: the datapath; it is not built itself.
        steps: its steps, some perhaps in parts.
        registers: boundaries with a register, which takes its input in every cycle.

    Members:
        The ports of the datapath, except those of the handshake.
    """

    d: Signal
    flags: Signal

    def __init__(self, datapath: Datapath, steps: Sequence[Step[Any, Any]], registers: Sequence[str]) -> None:
        self._datapath, self._steps, self._registers = datapath, steps, registers
        never_built(datapath)
        self._inputs = (*datapath.inputs, *(() if datapath._modes is None else (datapath._modes.name,)))
        outputs = {name: Out(len(getattr(datapath, name))) for name in ("d", "flags") if hasattr(datapath, name)}
        super().__init__({name: In(len(getattr(datapath, name))) for name in self._inputs} | outputs)

    def elaborate(self, platform: object) -> Module:
        m, always = Module(), Value.cast(1)
        inputs = [getattr(self._datapath, name).eq(getattr(self, name)) for name in self._inputs]
        m.d.comb += inputs
        chain = self._datapath._chain(Build(m, platform), self._steps, Pipeline(m, self._registers, always, always))
        m.d.comb += driven(self, chain)
        return m


DECODERS = {"a": "decode_x_", "b": "decode_y_", "scale_a": "decode_alpha_", "scale_b": "decode_beta_"}
"""The names of the decoders of each operand that an array shares, up to the element's number."""


class DecodedDatapath(AnyComponent):
    """A datapath whose elements and scales are decoded in front of it, once for all datapaths that take them.

    Args:
        datapath: the datapath; it is not built itself.
        narrow: whether ports leave out what is the same for all codes of a format, so that registers do not hold it.

    Members:
        The ports of the datapath; those with decoders hold what these give, in the order of the elements, and above it the
        codes if the datapath reads them too.

    Attributes:
        decoders: of each operand, in the order of its elements. with_codes: the operands whose codes are read too.
    """

    c: Signal
    d: Signal
    flags: Signal
    in_valid: Signal
    in_ready: Signal
    out_valid: Signal
    out_ready: Signal

    def __init__(self, datapath: Datapath, narrow: bool = False) -> None:
        self._datapath, self._narrow = datapath, narrow
        never_built(datapath)
        placed, self.with_codes = next(iter(datapath.steps())).decoders(datapath.operands())
        self.decoders: dict[str, list[Decode]] = {}
        for operand, name in DECODERS.items():
            found = [part for label, part in placed.items() if label.startswith(name) and isinstance(part, Decode)]
            if found and operand in datapath.inputs:
                self.decoders[operand] = found
        members = dict(datapath.signature.members)
        for operand in self.decoders:
            members[operand] = In(self._bits(operand))
        super().__init__(members)

    def _bits(self, operand: str) -> int:
        codes = len(getattr(self._datapath, operand)) if operand in self.with_codes else 0
        return sum(len(self._packed(part)) for part in self.decoders[operand]) + codes

    def decoded(self, build: Build, operand: str, place: int, codes: Value) -> Value:
        """The value of a port, of decoders in front of the datapath.

        Args:
            build: where they are placed. place: of the row or column. codes: of its elements.
        """
        parts, low = [], 0
        for k, like in enumerate(self.decoders.get(operand, ())):
            part = Decode(like.operand, like.subnormals)
            build.place(f"{DECODERS[operand]}{place}_{k}", part)
            build.m.d.comb += part.code.eq(codes[low : low + like.operand.width])
            low += like.operand.width
            parts.append(self._packed(part))
        return Cat(*parts, codes) if not parts or operand in self.with_codes else Cat(*parts)

    def _members(self, part: Decode) -> tuple[str, ...]:
        """The members of a decoded operand that a port holds."""
        return _varying(part.operand) if self._narrow else MEMBERS

    def _packed(self, part: Decode) -> Value:
        """What a decoder gives, as bits."""
        return Cat(*(getattr(part.x, name) for name in self._members(part)))

    def _unpacked(self, bits: Value, part: Decode) -> Operand:
        """What `_packed` made bits of, for such a decoder."""
        found: dict[str, Value] = {}
        low = 0
        for name in MEMBERS:
            width = len(getattr(part.x, name))
            if name not in self._members(part):
                found[name] = Const(int(name == "sig"), width)  # a power of two has the significand 1
                continue
            field = bits[low : low + width]
            found[name] = field.as_signed() if name == "exp" else field
            low += width
        return Operand(**found, signature=part.x.signature)

    def elaborate(self, platform: object) -> Module:
        given: dict[str, Value] = {name: getattr(self, name) for name in self._datapath.inputs}
        decoded: dict[str, Operand] = {}
        for operand, parts in self.decoders.items():
            low, port = 0, given[operand]
            for k, part in enumerate(parts):
                width = len(self._packed(part))
                decoded[f"{DECODERS[operand]}{k}"] = self._unpacked(port[low : low + width], part)
                low += width
            code = Const(0, len(getattr(self._datapath, operand)))
            given[operand] = port[low:] if operand in self.with_codes else code
        operands = DecodedOperands(**given, decoded=tuple(decoded.values()), names=tuple(decoded))
        return self._datapath.circuit(self, operands, platform)


MEMBERS = ("sign", "exp", "sig", "zero", "inf", "nan")
"""The members of a decoded operand."""


@cache
def _varying(operand: Format) -> tuple[str, ...]:
    """The members of a decoded operand that are not the same for all codes of a format."""
    present = {
        "sign": operand.signed,
        "exp": True,
        "sig": operand.subnormals or operand.man_bits > 0,
        "zero": True,
        "inf": True,
        "nan": True,
    }
    if operand.width <= SMALL_FORMAT:
        classes = {operand.decode(code).cls for code in range(operand.codes)}
        present |= {"zero": Cls.ZERO in classes, "inf": Cls.INFINITY in classes, "nan": Cls.NAN in classes}
        present["zero"] |= any(operand.decode(code).cls is Cls.SUBNORMAL for code in range(operand.codes))  # may be flushed
    return tuple(name for name, varies in present.items() if varies)


SMALL_FORMAT = 8
"""Bits of a format whose codes are all looked at; of others every class is taken to occur."""


def has_flags(operation: Operation) -> bool:
    """Whether a unit's circuit has a port for exception flags."""
    return isinstance(operation, ExactSum) and operation.flags


def driven(component: "Datapath | DecodedDatapath | WithoutHandshake", code: Code) -> list[Any]:
    """The statements that drive the outputs of a component."""
    statements = [component.d.eq(code.d)]
    return statements if code.flags is None else [*statements, component.flags.eq(code.flags)]


def free_running(datapath: Datapath) -> WithoutHandshake:
    """A datapath with a register at every boundary, those inside of steps too: the segments between can be timed."""
    steps = cut_inside(datapath.steps())
    return WithoutHandshake(datapath, steps, boundaries(steps))


def in_parts(datapath: Datapath, registers: Sequence[str]) -> WithoutHandshake | None:
    """The combinational datapath whose steps are in the same parts as in a pipeline with these registers; None if no
    register stands inside of a step."""
    steps = cut_inside(datapath.steps(), registers)
    return None if boundaries(steps) == boundaries(datapath.steps()) else WithoutHandshake(datapath, steps, ())


def check_placed(implementation: Implementation) -> None:
    """Raise ValueError for an implementation with a clock, for which no stages have been found yet."""
    if implementation.clock_ns is not None:
        raise ValueError(
            f"clock_ns = {implementation.clock_ns:g} must become stages and registers before a circuit is built; "
            "rtl.meet_clock(unit) finds them"
        )


def boundaries(steps: Iterable[Step[Any, Any]]) -> list[str]:
    """The names of all boundaries, beginning with the one in front of the first step."""
    return [OPERANDS, *(step.point for step in steps)]


def boundaries_inside(steps: Iterable[Step[Any, Any]]) -> list[str]:
    """The names of the boundaries inside of steps."""
    return [part.point for step in steps for part in step.parts[:-1]]


def placed_registers(steps: Sequence[Step[Any, Any]], implementation: Implementation) -> list[str]:
    """The names of the pipeline registers: those that the implementation names, which may stand inside of steps; else those
    that the steps' estimated depths give.

    Raises:
        ValueError: registers that are not boundaries in order.
    """
    points, named, stages = boundaries(steps), list(implementation.registers), implementation.stages
    if not named:
        chosen = [points[boundary + 1] for boundary in balanced_boundaries([step.depth for step in steps], stages)]
        return chosen + [f"{points[-1]}_{n}" for n in range(1, stages - len(chosen) + 1)]  # more registers than boundaries
    points = boundaries(cut_inside(steps))
    if named != [point for point in points if point in named] or named[-1] != points[-1]:
        raise ValueError(
            f"registers must be some of {listed(points)}, each once, in this order, with {points[-1]}; got {listed(named)}"
        )
    return named
