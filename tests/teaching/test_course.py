"""A notebook with a story becomes pages of a course, by the commands of `make course`."""

from __future__ import annotations

import json
from pathlib import Path

from roofwidget.export.saved_state import opened
from tests.environments import DEV, run
