"""The trace of one dot product: its steps in the project's vocabulary, from the model's own functions.

    >>> import golden, numpy as np
    >>> volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    >>> trace = volta.explain(np.ones(4, np.float16), np.ones(4, np.float16), np.float32(8))
    >>> hex(trace.d), trace.steps[0].parts[0].set_by
    ('0x41400000', ('c',))

`Trace.text`, `Trace.html` and `Trace.as_dict` show it.
"""

from golden.trace.records import Exact, Narrowing, Operand, Rounding, Scaling, Special, Step, Sum, Term
from golden.trace.trace import Trace, trace_of

__all__ = ["Exact", "Narrowing", "Operand", "Rounding", "Scaling", "Special", "Step", "Sum", "Term", "Trace", "trace_of"]
