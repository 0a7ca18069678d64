"""Conformance: the golden model against a device, bit for bit, in campaigns that can be interrupted and resumed."""

from hwtests.conform.campaign import PROCESSOR_WORKER, Report, run_campaign
from hwtests.conform.summary import summary
from hwtests.conform.worker import Job

__all__ = ["PROCESSOR_WORKER", "Job", "Report", "run_campaign", "summary"]
