"""FTZ-AddMul: products and sums that are rounded to fp32 and flushed one by one (golden: operations/ftz_addmul.py)."""

from amaranth import Value

from golden import Implementation
from golden.conversion import conversion
from golden.formats import FP32
from golden.operations import FTZAddMul
from rtl.aligned_sum import Addend, AlignedSum
from rtl.datapath import Build, Datapath, Step
from rtl.decode import Decode
from rtl.finish import Finish
from rtl.fma import signed_zero
from rtl.multiply import Accumulator, Multiply, product_shape
from rtl.pipeline import Bundle, flatten, kept
from rtl.specials import Specials
from rtl.vectors import decode_operands, multiply_pairs

RNE_FP32 = conversion("RNE-FP32")


class FTZAddMulDatapath(Datapath):
    """d = c + the pairwise sum of P products, every product and every sum rounded to fp32 and flushed."""

    def __init__(self, operation: FTZAddMul, implementation: Implementation) -> None:
        self.operation = operation
        self._zero_exp = operation.a.e_min + operation.b.e_min
        super().__init__(operation, implementation)

    def steps(self) -> list[Step]:
        """Values between the steps: the fp32 codes `value_0` … of one level of the sum, and `c`."""
        steps = [Step("decode", 8, self._decode), Step("multiply", 40, self._multiply), Step("products", 50, self._products)]
        level, count = 0, self.operation.P
        while count > 1:
            pairs = [(f"value_{2 * k}", f"value_{2 * k + 1}") for k in range(count // 2)]
            steps += self._level(level, pairs)
            level, count = level + 1, count // 2
        return [*steps, *self._level(level, [("c", "value_0")], result="d")]

    def _level(self, level: int, pairs: list[tuple[str, str]], result: str = "value_{}") -> list[Step]:
        """The three steps of one level of additions."""
        adders = [FlushingAdder(f"add_{level}_{k}", *pair, self.implementation) for k, pair in enumerate(pairs)]
        used = {name for pair in pairs for name in pair}

        def align(build: Build, values: Bundle) -> Bundle:
            aligned = {key: value for key, value in values.items() if key not in used}
            for adder in adders:
                aligned |= adder.align(build, values)
            return aligned

        def accumulate(build: Build, values: Bundle) -> Bundle:
            for adder in adders:
                values = adder.accumulate(build, values)
            return values

        def encode(build: Build, values: Bundle) -> Bundle:
            codes = {result.format(k): adder.encode(build, values) for k, adder in enumerate(adders)}
            return kept(values, *({"c"} - used)) | codes

        points = (("align", 40, align), ("accumulate", 36, accumulate), ("encode", 58, encode))
        return [Step(f"{point}_{level}", depth, run) for point, depth, run in points]

    def _decode(self, build: Build, values: Bundle) -> Bundle:
        decoded = decode_operands(build, values, self.operation, flush=True)
        return {key: value for key, value in decoded.items() if not key.startswith("z_")} | kept(values, "c")

    def _multiply(self, build: Build, values: Bundle) -> Bundle:
        operation = self.operation
        parts = [Multiply(operation.a, operation.b, self._zero_exp) for _ in range(operation.P)]
        return multiply_pairs(build, values, parts) | kept(values, "c")

    def _products(self, build: Build, values: Bundle) -> Bundle:
        """Each product to fp32; it has no more significand bits than fp32 keeps, so only range can change it."""
        shape = product_shape(self.operation.a, self.operation.b, self._zero_exp)
        codes = kept(values, "c")
        for k in range(self.operation.P):
            name = f"prod_{k}"
            finish = Finish(name, shape, RNE_FP32, self.implementation, canonical=False, flush=True)
            total = kept(values, f"prod_{k}", f"special_{k}") | {f"{name}_total": values[f"{name}_sig"]}
            codes[f"value_{k}"] = finish.code(build, finish.normalise(build, total), special=f"special_{k}")
        return codes


class FlushingAdder:
    """FTZ-Add: RNE-FP32 of the sum of two fp32 codes, a subnormal one flushed.

    Inputs count as +0 where they are subnormal, which only the first c can be. With man_bits + 3 fraction bits a sticky bit
    is as good as the exact sum of two normal numbers.

    Args:
        name: prefix of its values and parts.
        x, y: names of the values that hold the codes.
        implementation: how it is built.
    """

    def __init__(self, name: str, x: str, y: str, implementation: Implementation) -> None:
        self.name, self._codes = name, {"x": x, "y": y}
        self._term = {side: Accumulator(FP32, FP32.e_min) for side in self._codes}
        addends = [
            Addend(name=f"{name}_{side}", shape=part.shape, F=FP32.man_bits + 3, truncation="sticky")
            for side, part in self._term.items()
        ]
        self._sum = AlignedSum(name, addends, implementation, normalised=True)
        self._finish = Finish(name, self._sum.term, RNE_FP32, implementation, canonical=False, flush=True)

    def align(self, build: Build, values: Bundle) -> Bundle:
        """Both operands decoded and aligned, and their special."""
        specials = Specials(2)
        build.place(f"{self.name}_specials", specials)
        terms: Bundle = {}
        for k, (side, code) in enumerate(self._codes.items()):
            decode, term = Decode(FP32, flush=True), self._term[side]
            build.place(f"{self.name}_decode_{side}", decode)
            build.place(f"{self.name}_term_{side}", term)
            build.m.d.comb += decode.code.eq(values[code])
            build.drive(term.z, "z", flatten("z", decode.x))
            build.drive(getattr(specials, f"special_{k}"), "special", flatten("special", term.special))
            terms |= flatten(f"{self.name}_{side}", term.term)
        both = terms[f"{self.name}_x_sign"] & terms[f"{self.name}_y_sign"]
        aligned = self._sum.align(build, self._sum.max_exp(build, terms))
        return aligned | flatten(f"{self.name}_special", specials.result) | {f"{self.name}_both_negative": both}

    def accumulate(self, build: Build, values: Bundle) -> Bundle:
        """Their sum, an exact zero signed as IEEE 754 has it."""
        both = values[f"{self.name}_both_negative"]
        others = {key: value for key, value in values.items() if key != f"{self.name}_both_negative"}
        return signed_zero(self._sum.accumulate(build, others) | {"all_negative": both}, self.name)

    def encode(self, build: Build, values: Bundle) -> Value:
        """The rounded, flushed sum."""
        return self._finish.code(build, self._finish.normalise(build, values), special=f"{self.name}_special")
