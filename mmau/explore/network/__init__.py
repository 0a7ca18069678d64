"""PyTorch networks whose matrix products a unit computes, forward and backward, and the effect on their training.

`mmau.explore.network.operator.matmul` is one product, `mmau.explore.network.mapping.map_module` a whole module;
`measure` is the workload `network` of a design space. Those modules alone import PyTorch (extra `torch`).
"""

from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.settings import Settings, check
from mmau.explore.network.workload import measure

__all__ = ["Product", "Settings", "check", "measure"]
