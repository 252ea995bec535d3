"""Without JAX: a clear error, and texts can still be read."""

from __future__ import annotations

import subprocess
import sys

from tests.places import ROOT

SCRIPT = """
import sys
sys.modules["jax"] = None  # as if it were not installed
import roofwidget as rw
text = open("tests/fixtures/hlo/scan.txt", encoding="utf-8").read()
print(rw.from_hlo_text(text).flops)
for function in (rw.from_jax, rw.count_flops):
    options = {} if function is rw.from_jax else {"framework": "jax"}
    try:
        function(abs, 1.0, **options)
    except ImportError as error:
        print(error)
"""


def test_texts_are_read_without_jax_and_functions_need_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    message = "this needs JAX: pip install 'jax>=0.4.30'"
    assert done.stdout.splitlines() == ["335544320", message, message]
