"""Waveform files: where the simulator writes them, the user's copy, and the save file beside it."""

import os
import shutil
from pathlib import Path

from cosim.build.build import Built
from cosim.runner.save_file import write_save_file
from golden.files import check_output


def save_waves(built: Built, target: Path) -> None:
    """Copy a simulation's waveform to the user's path, and write a save file for GTKWave beside it."""
    folder = built.folder
    made = folder / "dump.vcd" if built.simulator == "verilator" else folder / "build" / f"{built.sources.top}.fst"
    copy(made, target)
    if target.is_file():  # a device or a FIFO has nothing beside it
        write_save_file(target.resolve(), built.sources.top, built.sources.instances)


def copy(file: Path, target: Path) -> None:
    """Copy a file of any size by the rules of `golden.files.write_atomically`: the target is never half-written, a symlink
    is followed, and a device or a FIFO is written directly.

    Raises:
        OSError: the target cannot be written; a partial copy is removed.
    """
    check_output(target)
    target = Path(os.path.realpath(target))
    part = target.with_name(f".{target.name}.part")
    try:
        if target.exists() and not target.is_file():
            with file.open("rb") as stream, target.open("wb", buffering=0) as device:
                shutil.copyfileobj(stream, device)
            return
        shutil.copyfile(file, part)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(target)) from error
    finally:
        part.unlink(missing_ok=True)
