"""The operators of PyTorch that multiply matrices, by the words of their names, including future variants."""

WORDS = frozenset(
    (
        "mm", "bmm", "addmm", "addbmm", "baddbmm", "smm", "hspmm", "sspaddmm", "mv", "addmv", "dot", "vdot", "matmul",
        "linear", "conv", "conv1d", "conv2d", "conv3d", "convolution", "trilinear", "cdist", "lstm", "gru", "rnn",
        "attention", "transformer", "int4pack", "gemm", "inner", "addr",
    )
)  # fmt: skip
"""Words in the names of operators that multiply matrices."""

PHRASES = (
    "matrix_exp", "matrix_power", "euclidean_dist", "tensordot", "einsum", "chain_matmul", "multi_dot", "affine_grid",
    "per_sample_weights",
)  # fmt: skip
"""Parts of the names of further operators that multiply matrices."""

SOLVERS = ("linalg_", "cholesky", "geqrf", "ormqr", "triangular_solve", "spsolve")
"""Beginnings of the names of solvers and decompositions, after underscores."""

NOT_PRODUCTS = frozenset(
    ("linalg_vector_norm", "linalg_diagonal", "linalg_cross", "_linalg_check_errors", "upsample_linear1d",
     "upsample_linear1d_backward", "upsample_bilinear2d", "_upsample_bilinear2d_aa")
)  # fmt: skip
"""Operators whose names contain such a word but that multiply no matrices."""


def is_or_has_product(kernel: str) -> bool:
    """Whether an operator multiplies matrices, or is one of the solvers and decompositions that do so inside."""
    return is_product(kernel) or (kernel.lstrip("_").startswith(SOLVERS) and kernel not in NOT_PRODUCTS)


def is_product(kernel: str) -> bool:
    """Whether an operator of PyTorch multiplies matrices, by its name, such as `_scaled_mm`."""
    if kernel in NOT_PRODUCTS:
        return False
    return not WORDS.isdisjoint(kernel.split("_")) or any(phrase in kernel for phrase in PHRASES)
