"""Step decode: a bit pattern split into sign, exponent, significand and class (golden: `Format.decode`)."""

from typing import Literal

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.arithmetic.coded_format import CodedFormat, IntegerElement
from golden.arithmetic.formats import Cls, Format, IntegerFormat
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import Operand, OperandSignature

Subnormals = Literal["kept", "+0", "±0"]
"""The treatment of a subnormal operand: its value, +0, or a zero of its sign."""


class Decode(SharedComponent):
    """Combinational decoder of one operand.

    Args:
        operand: the format of `code`.
        subnormals: the treatment of subnormal operands.

    Members:
        code: In(width), the bit pattern.
        x: Out(OperandSignature), its parts.
    """

    code: Signal
    x: Operand

    def __init__(self, operand: Format, subnormals: Subnormals = "kept") -> None:
        self.operand, self.subnormals = operand, subnormals
        members = {"code": In(operand.width), "x": Out(OperandSignature.of(operand))}
        super().__init__(f"decode_{operand}", (operand, subnormals), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fmt, x = self.operand, self.x
        if isinstance(fmt, IntegerElement | IntegerFormat):
            decode_integer(m, fmt, self.code, x)
            return m
        if isinstance(fmt, CodedFormat):
            decode_by_table(m, fmt, self.code, x)
            return m
        # 1. the fields:  sign | stored_exp (exp_bits) | man (man_bits) | pad (pad_bits)
        field = self.code[fmt.pad_bits :]
        man, stored_exp = field[: fmt.man_bits], field[fmt.man_bits : fmt.man_bits + fmt.exp_bits]
        hidden = stored_exp.any()  # a stored exponent of 0 means subnormal or zero
        if not fmt.has_zero:  # ue8m0: a power of two
            nan = stored_exp.all() if fmt.specials != "finite" else Const(0, 1)
            m.d.comb += [x.exp.eq(stored_exp - fmt.bias), x.sig.eq(1), x.nan.eq(nan)]
            return m
        if not fmt.subnormals:  # or zero alone
            hidden = hidden | man.any()
        # 2. the value: sig = hidden.man
        flushes = self.subnormals != "kept"
        flushed = ~hidden & man.any() if flushes else Const(0, 1)
        positive = flushed if self.subnormals != "±0" else Const(0, 1)
        m.d.comb += [
            x.sign.eq(self.code[-1] & ~positive if fmt.signed else 0),
            # e_min = 1 − bias for subnormals too
            x.exp.eq((Mux(hidden, stored_exp, 1) if fmt.subnormals else stored_exp) - fmt.bias),
            x.sig.eq(Mux(flushed, 0, Cat(man, hidden)) if flushes else Cat(man, hidden)),
            x.zero.eq(~hidden if flushes else ~(hidden | man.any())),
        ]
        # 3. the codes that are no number
        match fmt.specials:
            case "ieee":
                m.d.comb += [x.inf.eq(stored_exp.all() & ~man.any()), x.nan.eq(stored_exp.all() & man.any())]
            case "fn" | "merged":
                m.d.comb += x.nan.eq(stored_exp.all() & man.all())
            case "p3109" if not fmt.signed:
                top = field[1 : fmt.exp_bits + fmt.man_bits].all()
                m.d.comb += [x.inf.eq(top & ~field[0]), x.nan.eq(top & field[0])]
            case "fnuz" | "p3109":
                if fmt.infinity is not None:
                    m.d.comb += x.inf.eq(stored_exp.all() & man.all())
                zero = ~hidden & ~x.nan if flushes else ~self.code.any()
                m.d.comb += [x.nan.eq(x.sign & ~field[:-1].any()), x.zero.eq(zero)]
        return m


def decode_integer(m: Module, fmt: IntegerElement | IntegerFormat, code: Value, x: Operand) -> None:
    """An integer: its magnitude, as an element at the exponent of its highest bit, else at that of its last place."""
    negative = code[-1] if fmt.signed else Const(0, 1)
    magnitude = Mux(negative, -code, code) if fmt.signed else code
    m.d.comb += [x.sign.eq(negative), x.exp.eq(fmt.e_min), x.sig.eq(magnitude), x.zero.eq(~code.any())]


def decode_by_table(m: Module, fmt: CodedFormat, code: Value, x: Operand) -> None:
    """A code of a format by table: the parts of all codes, each in a word, of which each bit of the code leaves half."""
    exp_bits, sig_bits = len(x.exp), len(x.sig)
    width = exp_bits + sig_bits + 4
    words: list[Value | int] = []
    for value in map(fmt.decode, range(fmt.codes)):
        flags = value.sign | (value.cls is Cls.ZERO) << 1 | (value.cls is Cls.INFINITY) << 2 | (value.cls is Cls.NAN) << 3
        words.append(value.exp % (1 << exp_bits) | value.sig << exp_bits | flags << exp_bits + sig_bits)
    for bit in code:
        pairs = zip(words[0::2], words[1::2], strict=True)
        words = [_chosen(bit, one, zero, width) for zero, one in pairs]
    word = Signal(width)
    m.d.comb += [
        word.eq(words[0]), x.exp.eq(word[:exp_bits]), x.sig.eq(word[exp_bits : exp_bits + sig_bits]),
        Cat(x.sign, x.zero, x.inf, x.nan).eq(word[exp_bits + sig_bits :]),
    ]  # fmt: skip


def _chosen(bit: Value, one: Value | int, zero: Value | int, width: int) -> Value | int:
    if isinstance(one, int) and one == zero:
        return one
    return Mux(bit, *(Const(word, width) if isinstance(word, int) else word for word in (one, zero)))
