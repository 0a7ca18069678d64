"""The feature tests of three papers, by the papers' names, for any box.

>>> import golden
>>> from probe.box import box_of_instruction
>>> from probe.papers import KHATTAK, features
>>> ada = golden.instruction("sm_89", "mma.m16n8k16.f32.f16.f16.f32")
>>> found = features(KHATTAK, box_of_instruction(ada))
>>> found.answer("n_eab"), found.answer("N_FMA"), found.answer("RM-BFMA")
('1', '8', 'RZ')
"""

from probe.papers.fasi import FASI
from probe.papers.fttn import FTTN
from probe.papers.khattak import KHATTAK
from probe.papers.paper import NO_ANSWER, Features, Paper, Reading, Test, features

PAPERS: tuple[Paper, ...] = (FASI, FTTN, KHATTAK)

__all__ = ["FASI", "FTTN", "KHATTAK", "NO_ANSWER", "PAPERS", "Features", "Paper", "Reading", "Test", "features"]
