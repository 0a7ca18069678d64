"""Runs the command line as `python -m mmau`."""

import sys

from mmau.cli.main import main

sys.exit(main())
