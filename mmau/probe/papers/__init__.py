"""The feature tests of three papers, by the papers' names, for any device under test.

>>> import golden
>>> from mmau.probe.device_under_test import dut_of
>>> from mmau.probe.papers import KHATTAK, features
>>> ada = golden.instruction("sm_89", "mma.m16n8k16.f32.f16.f16.f32")
>>> found = features(KHATTAK, dut_of(ada))
>>> found.answer("n_eab"), found.answer("N_FMA"), found.answer("RM-BFMA")
('1', '8', 'RZ')
"""

from mmau.probe.papers.fasi import FASI
from mmau.probe.papers.fttn import FTTN
from mmau.probe.papers.khattak import KHATTAK
from mmau.probe.papers.paper import NO_ANSWER, Features, Paper, Reading, Test, features

PAPERS: tuple[Paper, ...] = (FASI, FTTN, KHATTAK)

__all__ = ["FASI", "FTTN", "KHATTAK", "NO_ANSWER", "PAPERS", "Features", "Paper", "Reading", "Test", "features"]
