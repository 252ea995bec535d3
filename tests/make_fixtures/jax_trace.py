"""Record two runs of a small program with JAX's own profiler on a CPU: the Chrome trace and the raw trace."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "jax"


def main() -> None:
    """Write both traces under the name of JAX's version."""
    import jax  # noqa: PLC0415 - an optional package
    import jax.numpy as jnp  # noqa: PLC0415 - as above

    # The raw trace has the program's file name, here without its folder.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    program = jax.jit(lambda a, b: jnp.tanh(a @ b).sum())
    a = jnp.ones((256, 256))
    program(a, a).block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 1
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            for _ in range(2):
                program(a, a).block_until_ready()
        FIXTURES.mkdir(exist_ok=True)
        for ending in (".trace.json.gz", ".xplane.pb"):
            (written,) = Path(folder).rglob(f"*{ending}")
            shutil.copyfile(written, FIXTURES / f"{jax.__version__}{ending}")


if __name__ == "__main__":
    main()
