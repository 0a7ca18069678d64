"""`python -m mmau`."""

import sys

from mmau.cli.main import main

sys.exit(main())
