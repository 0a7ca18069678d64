"""Matrix products of libraries on a GPU, cuBLAS through PyTorch and Triton, recorded there and explained anywhere: which
order of `golden.gemm` gives every recorded element.

    python -m studies.library_products.record h100.npz --probes probes.npz    # on the machine with the GPU
    make library-products                                                     # afterwards; writes the page
"""
