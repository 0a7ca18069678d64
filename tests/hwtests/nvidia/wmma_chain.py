"""The chain that the compiler makes of a `wmma`, read from the machine code of a kernel with one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from golden.arithmetic.formats import INTEGERS, Format
from golden.units.instruction import Instruction
from golden.units.names import INTEGER_TYPES, NVIDIA_TYPES

PTX_TYPES = {ours: ptx for ptx, ours in {**NVIDIA_TYPES, **INTEGER_TYPES}.items()}

_KERNEL = Template("""\
extern "C" __global__ void multiply(const char* a_of, const char* b_of, const char* c_of, char* d_of) {
    $word a[$a], b[$b];
    $word_c c[$c];
    $word_d d[$d];
    asm volatile("wmma.load.a.sync.aligned.row.$shape.$type_a {$list_a}, [%$a], $k;" : $out_a : "l"(a_of));
    asm volatile("wmma.load.b.sync.aligned.col.$shape.$type_a {$list_b}, [%$b], $k;" : $out_b : "l"(b_of));
    asm volatile("wmma.load.c.sync.aligned.row.$shape.$type_c {$list_c}, [%$c], $n;" : $out_c : "l"(c_of));
    asm volatile("wmma.mma$bits.sync.aligned.row.col.$shape$types {$list_d}, {$as}, {$bs}, {$cs};" : $out_d : $in_all);
    asm volatile("wmma.store.d.sync.aligned.row.$shape.$type_d [%$d], {$list_d}, $n;" :: $in_d, "l"(d_of));
}
""")


def bits_of(operand: Format) -> int:
    """Bits of an element in memory: integers of 4 bits and 1 are packed."""
    return operand.width if operand.name in INTEGERS else operand.storage_bits


def source(i: Instruction) -> str:
    """A CUDA kernel with one `wmma`, and what loads and stores its fragments.

    Fragments of fp16 operands have 8 registers in every shape.
    """
    wide, word = i.a.name == "fp64", 64 if i.a.name == "fp64" else 32
    a, b = (8 if i.a.name == "fp16" else max(1, side * i.k * bits_of(i.a) // 32 // word) for side in (i.m, i.n))
    c, d = (i.m * i.n * f.storage_bits // 32 // word for f in (i.c, i.d))
    type_a, type_c, type_d = (PTX_TYPES.get(f.name, f.name) for f in (i.a, i.c, i.d))
    words = {"f32": "float", "f64": "double"}
    kind, kind_c, kind_d = ({"f32": "f", "f64": "d"}.get(name, "r") for name in ("f64" if wide else "", type_c, type_d))

    def numbers(first: int, count: int) -> str:
        return ", ".join(f"%{first + n}" for n in range(count))

    def bound(constraint: str, name: str, count: int) -> str:
        return ", ".join(f'"{constraint}"({name}[{n}])' for n in range(count))

    counted = re.search(r"\.(xor|and)\.popc$", i.name)
    types = f".{type_d}.{type_c}" if type_a == "f16" else f".{type_d}.{type_a}.{type_a}.{type_c}"
    return _KERNEL.substitute(
        word="double" if wide else "unsigned int", word_c=words.get(type_c, "unsigned int"),
        word_d=words.get(type_d, "unsigned int"), a=a, b=b, c=c, d=d, shape=f"m{i.m}n{i.n}k{i.k}",
        type_a=type_a, type_c=type_c, type_d=type_d, k=i.k, n=i.n,
        list_a=numbers(0, a), list_b=numbers(0, b), list_c=numbers(0, c), list_d=numbers(0, d),
        **{"as": numbers(d, a), "bs": numbers(d + a, b), "cs": numbers(d + a + b, c)},
        out_a=bound(f"={kind}", "a", a), out_b=bound(f"={kind}", "b", b), out_c=bound(f"={kind_c}", "c", c),
        out_d=bound(f"={kind_d}", "d", d), in_d=bound(kind_d, "d", d),
        in_all=", ".join([bound(kind, "a", a), bound(kind, "b", b), bound(kind_c, "c", c)]),
        bits=counted[0] if counted else "", types=types + (".satfinite" if ".satfinite" in i.name else ""),
    )  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A matrix instruction of the machine, as the thread of lane 0 sees it.

    Attributes:
        mnemonic: without Volta's number of a quarter.
        chain: the same for all steps that add to one another's result.
        a_from, b_from: where its first elements of A and B lie in memory (bytes).
    """

    mnemonic: str
    chain: int
    a_from: int
    b_from: int


_ADDRESS = re.compile(r"\[R(\d+)[^\]+]*(?:\+(0x[0-9a-f]+))?\]")


class Lane0:
    """Integer arithmetic of lane 0 of a kernel whose arguments are all 0: what is left are the constants in addresses.

    Only the instructions that make addresses of fragments are known; the register of any other has no value.
    """

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def run(self, mnemonic: str, operands: str) -> None:
        """Execute one instruction."""
        target, *rest = [word.strip().split(".")[0] for word in operands.split(",")]
        words = [word for word in rest if not re.fullmatch(r"!?U?PT?\d?", word)]
        try:
            found = self._result(mnemonic, [self._value(word) for word in words])
        except (KeyError, ValueError, IndexError):
            found = None
        self.values.pop(target, None)
        if found is not None:
            self.values[target] = found
            prefix = target.rstrip("0123456789")
            words_written = 4 if ".128" in mnemonic else 2 if ".WIDE" in mnemonic or ".64" in mnemonic else 1
            for above in range(1, words_written if prefix != target else 1):
                self.values[f"{prefix}{int(target.removeprefix(prefix)) + above}"] = 0

    def _value(self, word: str) -> int:
        if word in ("RZ", "URZ", "SR_LANEID") or word.startswith("c["):
            return 0
        return int(word, 16) if word.startswith("0x") else self.values[word]

    @staticmethod
    def _result(mnemonic: str, x: list[int]) -> int | None:
        kind = mnemonic.split(".")[0].removeprefix("U")
        if kind in ("S2R", "LDC", "LDCU", "MOV"):
            return x[0]
        if kind == "IMAD":
            return x[-1] if ".MOV" in mnemonic else x[0] * x[1] + x[2]
        if kind in ("IADD", "IADD3"):
            return sum(x)
        if kind == "LEA":
            return 0 if ".HI" in mnemonic else (x[0] << x[2]) + x[1]
        if kind == "SHF":
            return x[2] >> x[1] if ".R." in mnemonic else x[0] << x[1]
        if kind == "LOP3":
            return sum(
                1 << bit
                for bit in range(32)
                if x[3] >> ((x[0] >> bit & 1) << 2 | (x[1] >> bit & 1) << 1 | (x[2] >> bit & 1)) & 1
            )
        return None


def steps(code: Sequence[tuple[str, str]]) -> list[Step]:
    """The matrix instructions of a kernel of `source`, in order.

    Args:
        code: mnemonics and operands, as `hwtests.nvidia.disassembly.sass` gives them.

    Raises:
        ValueError: operands whose load is not seen.
    """
    lane, loaded, chain_of, found = Lane0(), dict[int, int](), dict[int, int](), list[Step]()
    for mnemonic, operands in code:
        registers = [int(n) for n in re.findall(r"\bR(\d+)", operands)]
        if mnemonic.startswith(("LD.", "LDG.")):
            match = _ADDRESS.search(operands)
            assert match is not None, operands
            base = lane.values.get(f"R{match[1]}")
            for word in range(4 if ".128" in mnemonic else 2 if ".64" in mnemonic else 1):
                for table in (loaded, chain_of):
                    table.pop(registers[0] + word, None)
                lane.values.pop(f"R{registers[0] + word}", None)
                if base is not None:
                    loaded[registers[0] + word] = base + int(match[2] or "0", 16) + 4 * word
        elif "MMA" in mnemonic:
            d, a, b = registers[:3]
            if a not in loaded or b not in loaded:
                raise ValueError(f"no load is seen of the operands of {mnemonic} {operands}")
            chain = chain_of.get(registers[3] if len(registers) > 3 else -1, len(found))
            chain_of[d] = chain
            found.append(Step(re.sub(r"\.STEP\d", "", mnemonic), chain, loaded[a], loaded[b]))
        else:
            lane.run(mnemonic, operands)
            if "MOV" in mnemonic and len(registers) == 2:
                for table in (loaded, chain_of):
                    if registers[1] in table:
                        table[registers[0]] = table[registers[1]]
    return found
