"""Where `tightrope` starts and ends.

Exit 0 when done, 2 for bad input with one line a mistake on standard error, 3 where `doctor --strict` or `certify` finds an
error, 1 for anything else.
"""

from __future__ import annotations

import os
import sys

TYPER_INTERRUPTED = 130  # what Typer makes of a Ctrl-C that the command itself did not answer
INTERRUPTED = "Interrupted before it was done; nothing is left half written."


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _say(INTERRUPTED, 1)
    except BrokenPipeError:
        code = 1  # whoever read our output has gone; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code:
        # A run that is still compiling cannot be stopped; what it was writing has been removed.
        sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str]) -> int:
    import typer

    from tightrope.cli.app import app
    from tightrope.errors import InputError, TightropeError
    from tightrope.lab.mistakes import one_line

    try:
        code = app(args=arguments, prog_name="tightrope", standalone_mode=False)
        if code == TYPER_INTERRUPTED:
            return _say(INTERRUPTED, 1)
        return code if isinstance(code, int) else 0
    except InputError as error:
        return _say("\n".join(one_line(line) for line in error.problems), 2)
    except TightropeError as error:
        return _say("\n".join(one_line(line) for line in str(error).splitlines()), 1)
    except typer.TyperException as error:
        code, told = getattr(error, "exit_code", 2), one_line(error.format_message().replace("\n", " "))
        return _say(f"tightrope: {told}", code) if told else code  # without a command, help has said it all
    except typer.Abort:
        return 1


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
