"""The command `roofwidget`.

A command is a module of this folder with ``DESCRIPTION``, ``add_arguments(parser)``, and a function that it sets as
``run``: it takes the parsed arguments, prints the result, and returns the exit status.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Final

COULD_NOT_SAY: Final = 2
"""The exit status after input that a command cannot use. argparse exits with it too."""
_DESCRIPTION: Final = """\
Rooflines outside a notebook.

  roofwidget check profile.ncu-rep               which kernel to fix first?
  roofwidget check new.csv --baseline old.csv    what became slower?
  roofwidget check profile.csv --on b200         would it be faster on a B200?
  roofwidget show profile.csv                    the roofline, in this terminal
  roofwidget show profile.csv --png roof.png     the same as a picture
  roofwidget read profile.csv                    which column became what?
  roofwidget sol model.py --chip b200            how fast could this model be?

"roofwidget COMMAND --help" has more examples of each command."""
_COMMANDS: Final = {
    "check": "say which kernel to fix first, and on which chip it is faster; a check for CI",
    "show": "draw a roofline in the terminal, or as a picture or a page",
    "read": "say how a file is read: which column became what, and what is unknown",
    "sol": "say the least time for the operations of a PyTorch model or a JAX function: its speed of light",
    "chips": "list the chips of the catalogue",
    "peaks": "measure the peaks of this machine",
    "class": "pages, grades and item analysis for a class; questions for Moodle, Canvas and others",
    "bank": "check questions that are written in TOML files",
    "page": "write an executed notebook as one HTML page with its widgets alive",
    "translate": "write the texts of an executed notebook into a file for translators",
    "repair": "mend notebooks that GitHub refuses because of saved widgets",
    "completion": "print a script that completes this command in your shell",
}
"""The commands by name. A command is imported when it runs: some need a second."""
_FILES: Final = {"class": "class_"}
"""The files of commands whose names Python reserves."""
_ALIASES: Final = {"page": ["bundle-html"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with arguments, by default those of the process. Return the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter gets a question mark.
        sys.stdout.reconfigure(errors="replace")
    options = make_parser(given).parse_args(given)
    try:
        status = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has enough. Python would complain when it flushes the output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (ImportError, LookupError, OSError, ValueError) as error:
        print(f"roofwidget: {_sentence(error)}", file=sys.stderr)
        return int(options.status_of_failure)
    return status


def module_of(command: str) -> str:
    """Return the name of the module of a command."""
    return f"roofwidget.cli.{_FILES.get(command, command)}"


def make_parser(words: Collection[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser. Only the commands among `words` get their arguments; with None all commands get them."""
    parser = argparse.ArgumentParser(
        prog="roofwidget", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"roofwidget {version('roofwidget')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in _COMMANDS.items():
        names = [name, *_ALIASES.get(name, [])]
        command = commands.add_parser(
            name, aliases=names[1:], help=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.set_defaults(status_of_failure=COULD_NOT_SAY)
        if words is None or any(one in words for one in names):
            module = import_module(module_of(name))
            command.description = module.DESCRIPTION
            module.add_arguments(command)
    return parser


def _sentence(error: BaseException) -> str:
    """Return what went wrong as one line."""
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(text.split())
