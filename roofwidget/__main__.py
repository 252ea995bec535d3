"""The command `roofwidget`, as ``python -m roofwidget``."""

from __future__ import annotations

import sys

from roofwidget.cli import main

if __name__ == "__main__":
    sys.exit(main())
