"""Files that version 1.0.0 wrote or read. They are never written again: later versions must read them."""

from pathlib import Path

FILES = Path(__file__).with_name("files")
