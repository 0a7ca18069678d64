"""The normal draws of paper 001's programs: Mersenne twister, and the polar method as GNU's C++ library has it.

The programs are public (github.com/sunlex0717/DissectingTensorCores, microbench/numericbench): `std::mt19937` with the seed
123456, `std::normal_distribution<float>` of mean 0 and deviation 1, a new generator for each of the three operations. The
standard fixes the twister alone; the distribution is the library's (G. Marsaglia's polar method on fp32 numbers).
"""

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

SEED = 123456
"""The programs' seed."""

_ONE, _TWO = np.float32(1), np.float32(2)


def normal_draws(count: int, seed: int = SEED) -> F32:
    """The first `count` draws of a seed, fp32 [count].

    The logarithm is rounded from fp64. A C library's `logf` may differ from that: 16 of the first 4,096 draws differ from
    those of glibc 2.36, by up to two units in the last place.
    """
    words = np.random.RandomState(seed).randint(0, 2**32, 4 * count + 64, dtype=np.uint32)
    uniform = np.minimum(words.astype(np.float32) / np.float32(2**32), np.nextafter(_ONE, np.float32(0)))
    x, y = ((_TWO * uniform[part::2]).astype(np.float64) - 1 for part in (0, 1))
    x, y = x.astype(np.float32), y.astype(np.float32)
    squares = x * x + y * y
    inside = (squares <= 1) & (squares != 0)  # about pi/4 of them
    x, y, squares = x[inside], y[inside], squares[inside]
    log = np.log(squares.astype(np.float64)).astype(np.float32)
    factor = np.sqrt(-_TWO * log / squares)
    return np.stack([y * factor, x * factor], axis=1).reshape(-1)[:count]
