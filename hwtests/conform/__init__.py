"""Conformance: the golden model against a device, bit for bit, in campaigns that can be interrupted and resumed."""

from hwtests.conform.campaign import HANG_SECONDS, PROCESSOR_WORKER, PROGRAM_WORKER, Report, run_campaign, summary
from hwtests.conform.campaign_worker import Job

__all__ = ["HANG_SECONDS", "PROCESSOR_WORKER", "PROGRAM_WORKER", "Job", "Report", "run_campaign", "summary"]
