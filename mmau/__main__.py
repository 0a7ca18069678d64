"""`python -m mmau`."""

import sys

from mmau.cli import main

sys.exit(main())
