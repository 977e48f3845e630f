"""`python -m forecourt_agent`."""

import sys

from .cli import main

sys.exit(main())
