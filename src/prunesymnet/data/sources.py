"""The bytes of a file or a stream, bounded before and while they are read.

Only regular files are opened: a pipe would wait for its writer, and a device may never end. What is packed is bounded
by what comes out of it: ten megabytes of gzip can hold ten gigabytes.
"""

import codecs
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from prunesymnet.data.messages import reason_of
from prunesymnet.errors import DataError

MOST_BYTES = 2**30  # of a table, unpacked: some ten times as much as a search makes use of, and no memory is full of it
MOST_CELLS = 10**8  # of a table: as many as a gibibyte of numbers of ten digits holds
CHUNK = 2**20  # bytes read at a time, after each of which the sum is compared with the limit
GZIP = b"\x1f\x8b"  # what a gzip file begins with
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # of UTF-16, the one text in which there are zero bytes


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """A regular file of at most MOST_BYTES, to read from."""
    # Without O_NONBLOCK a pipe would be waited for before it can be seen to be one.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(file, flags), "rb") as handle:
            status = os.fstat(handle.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise DataError("is a directory; name a file in it")
            if not stat.S_ISREG(status.st_mode):
                raise DataError("is a pipe or a device, not a file; send a table through standard input (-)")
            if status.st_size > MOST_BYTES:
                raise _too_large()
            yield handle
    except IsADirectoryError:
        raise DataError("is a directory; name a file in it") from None
    except (OSError, EOFError, zlib.error) as problem:
        if isinstance(problem, FileNotFoundError):
            raise DataError(f"no such file in {file.absolute().parent}; check the path") from None
        raise DataError(f"can't be read ({reason_of(problem)}); check its permissions, or write it again") from None


def text_of(stream: BinaryIO) -> bytearray:
    """All that a stream of text holds, unpacked where it is gzip; an error as soon as it is no text."""
    first = stream.read(CHUNK)
    packed = first.startswith(GZIP)
    content = bytearray()
    for chunk in _unpacked(first, stream) if packed else _chunks(first, stream):
        if not content and b"\0" in chunk and not chunk.startswith(WIDE):
            raise DataError("is not a text file; save it as CSV, or give it the suffix of what it is (.xlsx, .parquet)")
        content += chunk
        if len(content) > MOST_BYTES:
            raise _too_large()
    return content


def check_cells(rows: int, columns: int) -> None:
    """An error for a table that does not fit, before it is made."""
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"has {rows:,} rows and {columns:,} columns, more than {MOST_CELLS:,} cells; draw some of its rows first"
        )


def _chunks(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = stream.read(CHUNK)


class _Joined:
    """What was read of a stream already, and then the rest of it."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self.first, self.stream = first, stream

    def read(self, size: int = -1) -> bytes:
        if not self.first:
            return self.stream.read(size)
        part = self.first if size < 0 else self.first[:size]
        self.first = self.first[len(part) :]
        return part


def _unpacked(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=_Joined(first, stream), mode="rb") as content:  # type: ignore[call-overload]
            yield from _chunks(content.read(CHUNK), content)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(f"can't be unpacked ({reason_of(problem)}); write it again") from None


def _too_large() -> DataError:
    return DataError(f"holds more than {MOST_BYTES:,} bytes; draw some of its rows first")
