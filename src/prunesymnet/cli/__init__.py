"""The command line: `prunesymnet --help`."""

from prunesymnet.cli.app import main

__all__ = ["main"]
