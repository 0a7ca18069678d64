"""Networks of PyTorch whose matrix products a unit computes, forward and backward, and what that does to their training.

`explore.network.operator.matmul` is one product, `explore.network.mapping.map_module` a whole module; `measure` is the
workload `network` of a design space. PyTorch (extra `torch`) is imported by those modules alone, when they are.
"""

from explore.network.product import Product
from explore.network.workload import Settings, check, measure

__all__ = ["Product", "Settings", "check", "measure"]
