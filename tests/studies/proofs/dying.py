"""Work that asks solvers which die, lie or give up."""

import faulthandler
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import bitwuzla

from studies.proofs.tasks import ask

MEGABYTE = 1 << 20


def segfault(content: dict[str, Any], folder: Path) -> Any:
    """A solver that touches memory that is not its own."""
    if content["solver"] == "bitwuzla":
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)
    return ask(content, folder)


def leave(content: dict[str, Any], folder: Path) -> Any:
    """A solver that ends its process as if all were well."""
    if content["solver"] == "bitwuzla":
        os._exit(0)
    return ask(content, folder)


def out_of_memory(content: dict[str, Any], folder: Path) -> Any:
    """A solver that gets no more memory than its process has: bitwuzla's own manager of terms takes what there is."""
    if content["solver"] == "bitwuzla":
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        limit = taken + 64 * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        manager = bitwuzla.TermManager()
        word = manager.mk_const(manager.mk_bv_sort(1 << 16))
        kept = [word]
        while True:
            kept.append(manager.mk_term(bitwuzla.Kind.BV_ADD, [kept[-1], word]))
    return ask(content, folder)


def never_end(content: dict[str, Any], folder: Path) -> Any:
    """A solver that pays no heed to its limit of time."""
    if content["solver"] == "bitwuzla":
        time.sleep(600)
    return ask(content, folder)


def contradict(content: dict[str, Any], folder: Path) -> Any:
    """Z3 says the opposite of what it finds."""
    answer = ask(content, folder)
    opposite = {"never": "sometimes", "sometimes": "never", "unknown": "unknown"}
    return answer | {"verdict": opposite[answer["verdict"]]} if content["solver"] == "z3" else answer


def only_bitwuzla_and_cvc5(content: dict[str, Any], folder: Path) -> Any:
    """Z3 gives up."""
    answer = ask(content, folder)
    return answer | {"verdict": "unknown", "reason": "tired"} if content["solver"] == "z3" else answer


def only_z3(content: dict[str, Any], folder: Path) -> Any:
    """The others give up."""
    answer = ask(content, folder)
    return answer | {"verdict": "unknown", "reason": "tired"} if content["solver"] != "z3" else answer
