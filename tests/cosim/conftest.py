"""Designs to co-simulate: the generator's, and ones that are broken on purpose, for the scoreboard to find."""

from pathlib import Path

import pytest

from cosim import Design
from cosim.bench.subject import Subject, as_subject, port_widths
from golden import Unit
from tests.cosim.designs import Generated, Wrapped

OUTPUTS = ("d", "in_ready", "out_valid")


@pytest.fixture
def generated(tmp_path: Path) -> Generated:
    """The datapath as the generator writes it now: with whatever a test has patched in it, or of another unit."""
    return lambda subject: _generated(subject, tmp_path)


@pytest.fixture
def wrapped(tmp_path: Path) -> Wrapped:
    """The sound datapath in a wrapper, some of its connections replaced.

    `faults` maps a port to the expression that takes its place: what an input of the datapath sees, or what an output shows.
    `declarations` is Verilog for what the expressions need.
    """

    def wrap(subject: Unit | Subject, faults: dict[str, str], declarations: str = "") -> Design:
        sound, widths = _generated(subject, tmp_path), port_widths(as_subject(subject))
        ports = ", ".join(f"{'output' if p in OUTPUTS else 'input'} [{w - 1}:0] {p}" for p, w in widths.items())
        wires = "".join(f"wire [{w - 1}:0] {p}_inside;\n" for p, w in widths.items() if p in OUTPUTS)
        links = ", ".join(f".{p}({f'{p}_inside' if p in OUTPUTS else faults.get(p, p)})" for p in widths)
        shown = "".join(f"assign {p} = {faults.get(p, f'{p}_inside')};\n" for p in widths if p in OUTPUTS)
        wrapper = tmp_path / "wrapper.v"
        body = f"{wires}{declarations}\n{sound.top} sound({links});\n{shown}"
        wrapper.write_text(f"module wrapper({ports});\n{body}endmodule\n")
        return Design((*sound.sources, wrapper), "wrapper")

    return wrap


def _generated(subject: Unit | Subject, folder: Path) -> Design:
    source = folder / "generated.v"
    source.write_text(as_subject(subject).verilog("generated"))
    return Design((source,), "generated")
