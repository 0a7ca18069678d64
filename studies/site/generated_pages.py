"""Pages of the site that are made, not written: each architecture's instructions, the API reference, all proved designs."""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from urllib.parse import urlencode

import golden
from golden.catalogue import ARCHITECTURES, marketing_names
from golden.units.instruction import EVIDENCE, Instruction
from mmau.jobs.provenance import unsealed
from mmau.prove.records import PROOFS
from mmau.report.markdown import document, table
from studies.explorer.catalogue import describe
from studies.proofs.proofs_page import designs_document

API = {
    "golden": "Models, formats, the catalogue, matrix products.",
    "rtl": "Datapaths in Amaranth, their Verilog, their cost.",
    "cosim": "Co-simulation of generated and user designs.",
    "cosim.bench": "Parts of a cocotb testbench: stimulus, driver, monitor, scoreboard.",
    "mmau.testing": "Tests of matrix-product kernels: assertions, operands that tell, audits of tolerances.",
    "hwtests.device": "Devices that run instructions, for conformance and recordings.",
}
"""Modules whose public names have a page each, and a line about them. Names are those of `__all__`, or all classes and
functions of a module without one."""

SHOWN = 12
"""Number of instructions of one arithmetic that a page shows at once; the others can be unfolded."""


def made_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of every generated page."""
    yield from api_pages()
    yield from instruction_pages()
    yield "evidence/proved-designs.md", designs_document(unsealed(PROOFS.read_bytes()))


def api_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of each module's page."""
    for module, line in API.items():
        names = getattr(import_module(module), "__all__", None)
        blocks = [f"::: {module}.{name}" for name in names] if names else [f"::: {module}"]
        yield f"reference/api/{module}.md", "\n\n".join([f"# `{module}`", line, *blocks]) + "\n"


def instruction_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of the index and of each architecture's page."""
    rows = [
        (f"[{arch}]({arch}.md)", ", ".join(marketing_names(arch)), f"{len(golden.instructions(arch)):,}")
        for arch in ARCHITECTURES
    ]
    line = "Every name opens the [explorer](../explorer.html), which computes it."
    index = table(("architecture", "sold as", "instructions"), rows, numbers=(2,))
    yield "instructions/index.md", document("Instructions", line, index)
    for arch in ARCHITECTURES:
        yield f"instructions/{arch}.md", _architecture(arch)


def _architecture(arch: str) -> str:
    entries = golden.instructions(arch)
    lines = [
        f"# {arch}" + (f" ({', '.join(marketing_names(arch))})" if marketing_names(arch) else ""), "",
        f"{len(entries):,} instructions, grouped by arithmetic. [numerics.md](../numerics.md) defines each operation; "
        "[evidence](../evidence/README.md) says what each kind of evidence means.", "",
    ]  # fmt: skip
    numbered = {_arithmetic(i): n for n, i in reversed(list(enumerate(entries)))}
    alike = Counter(arithmetic.partition(": ")[0] for arithmetic in numbered)
    for arithmetic, group in groupby(sorted(entries, key=lambda i: numbered[_arithmetic(i)]), key=_arithmetic):
        formats, _, operation = arithmetic.partition(": ")
        lines += _group(formats if alike[formats] == 1 else arithmetic, operation, list(group))
    return "\n".join(lines) + "\n"


def _arithmetic(i: Instruction) -> str:
    scale = f", scales {i.scale} for {i.block_size} elements" if i.scale else ""
    return f"{i.a} × {i.b} + {i.c} → {i.d}{scale}: {describe(i)}"


def _group(heading: str, operation: str, group: list[Instruction]) -> list[str]:
    kinds = [kind for kind in EVIDENCE if any(i.evidence == kind for i in group)]
    notes = sorted({i.note for i in group if i.note})
    links = [f"[`{i.name}`](../explorer.html#{urlencode({'arch': i.arch, 'instr': i.name})})" for i in group]
    open_links, folded = links[:SHOWN], links[SHOWN:]
    lines = [
        f"## {heading}",
        "",
        operation,
        "",
        f"Evidence: {', '.join(kinds)}." + "".join(f" {note}." for note in notes),
        "",
    ]
    lines += [", ".join(open_links), ""]
    if folded:
        lines += [
            '<details markdown="1">',
            f"<summary>{len(folded):,} more</summary>",
            "",
            ", ".join(folded),
            "",
            "</details>",
            "",
        ]
    return lines
