"""d = c + Σ a_k·b_k of int8 with int32, which wraps around: a program for `mmau probe --program`.

mmau probe --program "python3 examples/program/idpa.py" --formats "a=int8 b=int8 c=int32 d=int32 K=4"
"""

import sys


def signed(code: int, bits: int) -> int:
    """The number of a code in two's complement."""
    return code - (code >> bits - 1 << bits)


def main() -> None:
    """Answer each row of standard input."""
    header = dict(word.split("=") for word in sys.stdin.readline().lstrip("# ").split())
    K = int(header["K"])
    for line in sys.stdin:
        codes = [int(code, 16) for code in line.split()]
        products = (signed(x, 8) * signed(y, 8) for x, y in zip(codes[:K], codes[K : 2 * K], strict=True))
        total = signed(codes[2 * K], 32) + sum(products)
        print(f"{total & 0xFFFFFFFF:08x}", flush=True)


if __name__ == "__main__":
    main()
