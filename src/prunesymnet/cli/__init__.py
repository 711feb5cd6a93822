"""The command line: `prunesymnet --help`."""

import sys

__all__ = ["main"]

STOPPED = 130  # the exit code of what Ctrl-C has ended


def main() -> None:
    """Run the command. Nothing is imported before: Ctrl-C ends even the imports in one line."""
    try:
        from prunesymnet.cli.app import app

        app()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("error: stopped\n")
        raise SystemExit(STOPPED) from None
