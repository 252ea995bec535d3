"""`roofwidget completion`: a script that completes the command in a shell."""

from __future__ import annotations

import argparse
from typing import Final

from roofwidget.cli import make_parser
from roofwidget.support.extras import install_command

DESCRIPTION: Final = """\
Print a script that completes commands and options of roofwidget in your shell.
The script runs no Python. Making it needs the package shtab.

  eval "$(roofwidget completion bash)"             in this shell
  roofwidget completion bash >> ~/.bash_completion  in each shell
  roofwidget completion zsh > "${fpath[1]}/_roofwidget"
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument("shell", choices=["bash", "zsh", "tcsh"])
    command.set_defaults(run=_print)


def _print(options: argparse.Namespace) -> int:
    try:
        import shtab  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(f"the script of a shell needs shtab: {install_command('completion')}") from None
    print(shtab.complete(make_parser(), shell=options.shell))
    return 0
