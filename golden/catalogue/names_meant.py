"""What names of other kinds mean: PTX, SASS, compilers' builtins, and the kernels of libraries.

Each kind has a function that reads a name into a `Meaning`: patterns of the names of instructions, and what the name
leaves open. The spellings of kernels are those of profiles: cuBLAS's are recorded beside the orders that explain their
products (docs/evidence/library-products.json), CUTLASS's and Tensile's are those of their generators.
"""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple


class Meaning(NamedTuple):
    """What a name means.

    Attributes:
        patterns: of names of instructions; the first that any instruction has counts.
        hint: a sentence on what the name leaves open, or on what has no instruction; empty where there is nothing to say.
    """

    patterns: tuple[str, ...]
    hint: str = ""


def meant_by(name: str, found: Collection[str]) -> tuple[list[str], str]:
    """The instructions of an architecture that a name of another kind means, and a sentence on what it leaves open.

    Args:
        found: names of the architecture's instructions.
    """
    for reading in READINGS:
        meaning = reading(name)
        if meaning is not None:
            for pattern in meaning.patterns:
                meant = list(filter(re.compile(pattern).fullmatch, found))
                if meant:
                    return meant, meaning.hint
            return [], meaning.hint
    plain = built_in(name)
    of_it = [each for each in found if built_in(each) == plain] if plain else []
    return [each for each in of_it if each.endswith("_1k") == name.endswith("_1k")] or of_it, ""


FAMILIES = {"9": ("wgmma",), "10": ("tcgen05",), "12": ("mma",), "": ("tcgen05", "wgmma")}
"""Families of instructions by the generation in the name of a kernel, `sm_90` without its last digit, or no generation."""

WIDE = {"tcgen05": r"m128n128", "wgmma": r"m64n128", "mma": r"m\d+n\d+"}
"""Rows and columns of the instruction that stands for all of a family; its arithmetic is theirs."""


def _nvidia(
    families: Collection[str], a: str, b: str, d: str, *, shape: str = "", k: str = r"\d+", scaled: str = ""
) -> tuple[str, ...]:
    """A pattern for each family: instructions of some formats.

    Args:
        a, b, d: patterns of the formats. shape: pattern of M and N, such as m16n8; empty: any, or one for all.
        scaled: pattern of the block and format of scales, such as block16 and ue4m3.
    """
    made = []
    for family in families:
        block = rf"\.{scaled.partition(' ')[0]}" if scaled else ""
        tail = (rf"\.{d}" if family == "mma" else "") + (rf"\.{scaled.partition(' ')[2]}" if scaled else "")
        same = r"(?P=a)" if a == b else b
        sizes = shape or WIDE[family]
        made.append(rf"{family}\.{sizes}k{k}(?:\.kind::\w+)?{block}\.{d}\.(?P<a>{a})\.{same}{tail}")
    return tuple(made)


# PTX and SASS

IN_DESCRIPTOR = "its formats are in a descriptor, not in its name"


def _ptx(name: str) -> Meaning | None:
    """PTX, whole or cut off."""
    words = name.removesuffix("…").rstrip(".").split(".")
    if words[0] not in ("mma", "wgmma", "wmma", "tcgen05") or not {"sync", "mma_async", "mma"} & set(words[1:]):
        return None
    sparse = r"\.sp" if any(word == "sp" or word.startswith("sp::") for word in words) else ""
    rest = [
        word
        for word in words[1:]
        if not re.fullmatch(r"sync|aligned|mma_async|mma|row|col|block_scale|sp(::.*)?|cta_group::\d", word)
    ]
    shape = next((word for word in rest if re.fullmatch(r"m\d+n\d+k\d+", word)), None)
    kind = next((word for word in rest if word.startswith("kind::")), None)
    vector = next((word for word in rest if re.fullmatch(r"scale_vec::\dX|block\d+", word)), None)
    types = [word for word in rest if word not in (shape, kind, vector)]
    if words[0] == "wmma" and len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    sizes = shape or WIDE.get(words[0], r"m\d+n\d+") + r"k\d+"
    block = ""
    if kind and vector:
        block = (
            vector if vector.startswith("block") else SCALE_BLOCKS.get((kind.removeprefix("kind::"), vector[-2:]), vector)
        )
    elif kind in ("kind::mxf8f6f4", "kind::mxf4"):
        block = "block32" if "block_scale" in words else ""
    anything = "" if types else r"(?:\.kind::\w+?)?(?:\.block\d+)?"
    middle = (rf"\.{kind}" if kind else anything) + (rf"\.{block}" if block else "")
    satfinite = r"\.satfinite" if "satfinite" in types else "" if types else r"(?:\.satfinite)?"
    given = "".join(rf"\.{re.escape(word)}" for word in types if word != "satfinite")
    stem = rf"{words[0]}{sparse}\.{sizes}{satfinite}{middle}"
    hint = IN_DESCRIPTOR if words[0] == "tcgen05" else "it is cut off" if shape is None or not types else ""
    return Meaning((stem + given, stem + given + r"(?:\.\w+)*"), hint)


SCALE_BLOCKS = {("mxf8f6f4", "1X"): "block32", ("mxf4", "2X"): "block32", ("mxf4nvf4", "2X"): "block32",
                ("mxf4nvf4", "4X"): "block16"}  # fmt: skip
"""Kind and scale_vec of PTX, mapped to the block of products that shares a scale."""

_SASS = re.compile(r"(?P<unit>[DHIQOB]|HG|QG|IG|BG)MMA(?P<words>(?:\.[A-Z0-9x]+)*)")
_UTC = re.compile(r"UTC([HQOI])MMA(?:\.\w+)*")

UTC_KINDS = {"H": r"(?:tf32|f16)", "Q": r"(?:f8f6f4|mxf8f6f4)", "O": r"(?:mxf4|mxf4nvf4)", "I": "i8"}
"""Letter of a tcgen05 instruction of SASS, mapped to its kinds in PTX."""

SASS_FACTORS = {"H": "(?:f16|bf16|tf32)", "Q": r"e\dm\d", "O": "e2m1"}
"""Letter of SASS's floating-point MMA, mapped to the formats of its factors."""


def _sass(name: str) -> Meaning | None:
    """A machine instruction. The types of `UTCHMMA` and its kin are in a descriptor, not in their names."""
    if utc := _UTC.fullmatch(name):
        block = r"\.block16" if name.endswith("4X") else r"(?:\.block32)?(?!\.block)"
        return Meaning((rf"tcgen05\.m128n128k\d+\.kind::{UTC_KINDS[utc[1]]}{block}(?:\.\w+)+",), IN_DESCRIPTOR)
    found = _SASS.fullmatch(name)
    if not found:
        return None
    unit, words = found["unit"], found["words"].split(".")[1:]
    wide = unit.endswith("G")
    shape = next((_sizes(word) for word in words if re.fullmatch(r"\d+(x\d+x\d+)?", word)), r"m\d+n\d+k\d+")
    if wide and shape.startswith(r"m\d"):
        shape = r"m64n128k\d+"
    stem = ("wgmma" if wide else "mma") + (r"\.sp" if "SP" in words else "") + rf"\.{shape}"
    types = [word.lower() for word in words if re.fullmatch(r"F16|F32|BF16|TF32|[SU][48]|E[2345]M[123]", word)]
    hint = "" if shape[1].isdigit() else "it is cut off"
    match unit[0]:
        case "D":
            return Meaning((rf"{stem}\.f64\.f64\.f64\.f64",), hint)
        case "B":
            logic = next((word.lower() for word in words if word in ("AND", "XOR")), "(?:and|xor)")
            return Meaning((rf"{stem}\.s32\.b1\.b1(?:\.s32)?\.{logic}\.popc",), hint)
        case "I":
            satfinite = r"\.satfinite" if "SAT" in words else ""
            a, b = types if len(types) == 2 else (r"[su]8", r"[su]8")
            return Meaning((rf"{stem}{satfinite}\.s32\.{a}\.{b}(?:\.s32)?",), hint if len(types) == 2 else "it is cut off")
    if not types:
        a = SASS_FACTORS[unit[0]]
        return Meaning((rf"{stem}(?:\.kind::\w+)?(?:\.block\d+)?\.f(?:32|16)\.{a}\.{a}(?:\.\w+)*",), "it is cut off")
    d, *factors = types
    c = d
    if unit == "H" and factors and factors[0] in ("f16", "f32"):  # Volta's names have the format of C too
        c = factors.pop(0)
    a, b = (factors * 2)[:2] if factors else ("f16", "f16")  # the factors' f16 is not written
    if "SF" not in words:
        return Meaning((rf"{stem}(?:\.kind::f8f6f4)?\.{d}\.{a}\.{b}{'' if wide else '.' + c}",), hint)
    scale = "ue4m3" if "UE4M3" in words else "ue8m0"
    return Meaning((rf"{stem}\.kind::\w+\.block{16 if '4X' in words else 32}\.{d}\.{a}\.{b}\.{d}\.{scale}",), hint)


def _sizes(shape: str) -> str:
    """`m16n8k16` of `16816`, where m is 16 or 8 and n 8, or of `16x8x16`."""
    if "x" not in shape:
        m = "16" if shape.startswith("16") else "8"
        shape = f"{m}x{shape[len(m)]}x{shape[len(m) + 1 :]}"
    return "m{}n{}k{}".format(*shape.split("x"))


# Kernels of libraries

LETTERS = {"h": "f16", "t": "bf16", "s": "tf32", "q": "e4m3", "r": "e5m2", "o": "e2m1"}
"""Letters of cuBLAS's `nvjet` for a format of factors. A is cuBLAS's, which is B of a product of matrices in rows."""

_NVJET = re.compile(r"nvjet(?:_sm(?P<arch>\d+)\d)?(?:_(?P<types>[a-z]{5}|[a-z]{3})(?![a-z]))?.*")


def _nvjet(name: str) -> Meaning | None:
    """cuBLAS's `nvjet_TYPES_TILE_…`: A and B, C, sum and D have a letter each, or A, sum and D alone."""
    found = _NVJET.fullmatch(name)
    if not found:
        return None
    types = found["types"] or ""
    if not types or not set(types) <= set(LETTERS):
        a = b = "|".join(LETTERS.values())
        d, hint = "f32", "the letters after nvjet_ say the formats: " + ", ".join(" ".join(pair) for pair in LETTERS.items())
    else:
        a, b = (LETTERS[letter] for letter in (types[0], types[1] if len(types) == 5 else types[0]))
        d, hint = {"s": "f32", "h": "f16"}.get(types[-2], "f32"), ""
    scaled = re.search(r"vec(16|32)U(E4M3|E8M0)", name)
    scales = f"block{scaled[1]} u{scaled[2].lower()}" if scaled else r"block\d+ ue\w+" if a == "e2m1" else ""
    families = ("mma",) if "_mma_" in name else FAMILIES.get(found["arch"] or "", ())
    k = {"f16": "16", "bf16": "16"}.get(a, r"\d+")
    return Meaning(_nvidia(families, a, b, d, k=k, scaled=scales), hint)


XMMA = {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "f64": "f64", "e4m3": "e4m3", "e5m2": "e5m2", "i8": "s8", "f32": "f32",
        "i32": "s32"}  # fmt: skip
"""Formats in names of XMMA's kernels, mapped to PTX's."""

_OF_XMMA = rf"({'|'.join(sorted(XMMA, key=len, reverse=True))})"
_XMMA = re.compile(rf"(?:sm(\d+)_)?xmma_gemm_{_OF_XMMA}{_OF_XMMA}_{_OF_XMMA}{_OF_XMMA}_.*")


def _xmma(name: str) -> Meaning | None:
    """`sm80_xmma_gemm_AC_BS_…`: formats of A and C, of B and the sum, and `tensor16x8x16`, the shape."""
    found = _XMMA.search(name)
    if not found:
        return None
    a, _, b, d = (XMMA[word] for word in found.groups()[1:])
    a = b if b == "tf32" else a
    if "f32" in (a, b):
        return CORES
    shape = re.search(r"tensor(\d+)x(\d+)x(\d+)", name)
    wide = shape[1] == "64" if shape else "warpgroup" in name or (found[1] == "90" and a != "f64")
    sizes = {"shape": f"m{shape[1]}n{shape[2]}", "k": shape[3]} if shape else {}
    return Meaning(
        _nvidia(("wgmma",) if wide else ("mma",), a, b, d, **sizes), "" if shape else "the shape is not in its name"
    )


GEMM_TYPES = {
    "bf16": "bf16", "f16": "f16", "fp16": "f16", "tf32": "tf32", "int8": "s8", "s8": "s8", "u8": "u8", "s4": "s4",
    "u4": "u4", "e4m3": "e4m3", "e5m2": "e5m2", "fp8": "e4m3", "f8": "e4m3",
}  # fmt: skip
"""Formats of factors in names of kernels."""

_WORDS = "|".join(sorted(GEMM_TYPES, key=len, reverse=True))
_GEMM = re.compile(
    rf"(?:^|_)(?P<sum>[shdi])(?P<shape>161616|16816|16832|16864|1688|1684|884|8816|8832)(?P<inner>{_WORDS})?gemm(?:_(?P<after>{_WORDS}))?(?P<rest>.*)"
)


def _gemm(name: str) -> Meaning | None:
    """`ampere_s16816gemm_fp16_…`: the sum's letter, the shape, and the factors' format where it is not the sum's."""
    found = _GEMM.search(name)
    if not found:
        return None
    shape = "m16n16k16" if found["shape"] == "161616" else _sizes(found["shape"])
    family, sizes = ("wmma" if shape == "m16n16k16" else "mma"), shape.partition("k")
    d = {"s": "f32", "h": "f16", "d": "f64", "i": "s32"}[found["sum"]]
    said = found["inner"] or found["after"]
    if found["sum"] == "d":
        patterns: tuple[str, ...] = ("f64",)
    elif said:
        patterns = (GEMM_TYPES[said],)
    elif found["sum"] == "s" and re.match(r"_(?:sliced|\d+x)", found["rest"]):
        patterns = ("tf32", "f16|bf16")  # CUTLASS leaves the format out where it is the sum's: factors of fp32
    else:
        patterns = ({"s": "tf32|f16|bf16", "h": "f16", "i": "[su][48]"}[found["sum"]],)
    made = [each for ab in patterns for each in _nvidia(("mma",), ab, ab, d, shape=sizes[0], k=sizes[2])]
    return Meaning(
        tuple(each.replace("mma", family, 1) for each in made),
        "" if said else "the format of the factors is not in its name",
    )


_CUTLASS = re.compile(
    r"cutlass3x_sm(?P<arch>\d+)\d_(?:bs)?tensorop_(?:gmma_)?(?:[a-z]?(?P<shape>\d+x\d+x\d+|16832|16864))?(?P<inner>tf32)?gemm"
    r"(?:_(?P<types>.*))?"
)  # fmt: skip


def _cutlass(name: str) -> Meaning | None:
    """`cutlass3x_sm90_tensorop_s64x128x16gemm_A_B_SUM_C_D_…`, older with the instruction's shape, newer without."""
    found = _CUTLASS.search(name)
    if not found:
        return None
    words = (found["types"] or "").removeprefix("block_scaled_").split("_")
    scaled, factors = "", []
    for word in words[:2]:
        scale, _, factor = word.rpartition("x")
        factors.append({"f4": "e2m1", "f32": "tf32", "f8": "e4m3"}.get(factor or word, factor or word))
        scaled = f"block{16 if scale == 'ue4m3' else 32} {scale}" if scale else scaled
    families = FAMILIES.get(found["arch"], ())
    if len(factors) < 2 or len(words) < 3:
        return Meaning(_nvidia(families, r"\w+", r"\w+", r"\w+"), "it is cut off")
    k = r"\d+" if not found["shape"] else found["shape"].split("x")[2] if "x" in found["shape"] else found["shape"][3:]
    return Meaning(_nvidia(families, factors[0], factors[1], words[2], k=k, scaled=scaled))


TENSILE = {
    "H": "f16", "B": "bf16", "S": "f32", "D": "f64", "I8": "i8", "F8": "fp8", "B8": "bf8", "F8B8": "fp8_bf8",
    "B8F8": "bf8_fp8",
}  # fmt: skip
"""Letters of Tensile for a format of factors, mapped to those of MFMA's names."""

_TENSILE = re.compile(
    r"Cijk_A\w+?_B\w+?_(?P<types>(?:F8B8|B8F8|F8|B8|I8|[HBSD]))[A-Z0-9]*_.*?MI(?P<m>\d+)x(?P<n>\d+)x(?P<rest>\d+(?:x\d+)?)_.*"
)


def _tensile(name: str) -> Meaning | None:
    """rocBLAS's and hipBLASLt's `Cijk_…_HHS_…_MI16x16x16x1_…`: the factors' format, and M, N, K and blocks, or without K."""
    found = _TENSILE.search(name)
    if not found:
        return None
    k = found["rest"].partition("x")[0] if "x" in found["rest"] else r"\d+"
    of, d = TENSILE[found["types"]], r"(?:f32|f64|i32)"
    of = f"{of}_{of}" if of in ("fp8", "bf8") else of
    of = r"x?f32" if of == "f32" else of
    shape = rf"{found['m']}x{found['n']}x{k}"
    return Meaning((rf"v_mfma_{d}_{shape}_?{of}", rf"v_mfma_{d}_{shape}_?{of}_1k", rf"v_wmma_f32_{shape}_{of}_w(?:32|64)"),
                   "K of the instruction is not in its name" if k.startswith("\\") else "")  # fmt: skip


CORES = Meaning(
    (), "it multiplies and adds on CUDA cores, without an instruction of the catalogue: "
    "golden.Unit with the operation FMA is its step, and golden.recipes has orders (cublas.gb200.f16.gemmsn)"
)  # fmt: skip

_CORES = re.compile(r"(?:^|_)(?:simt_)?[sdh]gemm(?:_|$)|gemvx|gemv2?[NT]|gemm[SN]N|ffma", re.IGNORECASE)


def _on_cores(name: str) -> Meaning | None:
    """Kernels without matrix instructions."""
    return CORES if _CORES.search(name) else None


def built_in(name: str) -> str:
    """A name of AMD's without prefix, case, separators, `_1k` and numbers of blocks; empty for another name."""
    short = as_assembly(name).removeprefix("v_").replace(".", "_")
    if not short.startswith(("mfma_", "smfmac_", "wmma_", "swmmac_", "dot2_")):
        return ""
    return re.sub(r"_1k$|_\d+b(?=_|$)|_", "", re.sub(r"(\d+x\d+x\d+)_?(?:\d+b_)?(?=[a-z])", r"\1_", short))


def as_assembly(name: str) -> str:
    """A builtin's name as assembly spells it: `v_wmma_…` of `__builtin_amdgcn_wmma_…_gfx12`."""
    short = re.sub(r"^(?:__builtin_amdgcn_|llvm\.amdgcn\.|v_)", "", name.lower())
    return "v_" + re.sub(r"_gfx12$", "", short)


READINGS: tuple[Callable[[str], Meaning | None], ...] = (_ptx, _sass, _nvjet, _xmma, _cutlass, _gemm, _tensile, _on_cores)
