"""The C++ compiler of released wheels: the clang that ziglang carries, for the oldest C library that wheels support.

Called as a program in place of g++: `python compiler.py TARGET ARGUMENT…`. zig writes names of instruction sets with `_`.
"""

import os
import sys

TARGETS = {
    "manylinux_2_17_x86_64": ("x86_64-linux-gnu.2.17", "x86_64"),
    "manylinux_2_17_aarch64": ("aarch64-linux-gnu.2.17", "aarch64"),
}
"""Platform of a wheel: zig's target, and the processor as CMake calls it."""


def command(target: str, arguments: list[str]) -> list[str]:
    """The call of zig for a call of g++. A linked library is stripped: its symbols of debugging name the build's folders."""
    spelt = [each.replace("x86-64-v", "x86_64_v") if each.startswith("-march=") else each for each in arguments]
    links = [] if "-c" in arguments else ["-s"]
    return [sys.executable, "-m", "ziglang", "c++", "-target", target, *spelt, *links]


if __name__ == "__main__":
    os.execv(sys.executable, command(sys.argv[1], sys.argv[2:]))
