"""Names that Intel's tools give to copies and fills of the runtime."""

from __future__ import annotations

import re
from typing import Final

COPY: Final = re.compile(
    r"zeCommandListAppend(?:Memory(?:Copy|Fill)|Image\w*Copy)|clEnqueue(?:Read|Write|Copy|Fill|SVMMemcpy|MemcpyINTEL)"
)
"""Matches the beginning of the name of a copy or a fill."""
