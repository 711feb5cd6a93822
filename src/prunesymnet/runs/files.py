"""JSON files that are whole or not there, and that show whether they were changed since we wrote them.

A file of ours names its format and its version, and carries the SHA-256 of its content. Nothing in it is ever run: it
is read as numbers, names and formulas, each checked.

A folder may come from somebody else. So only regular files are read and written: behind a link lies a file that its
maker could not reach, a pipe never ends, and a device has no size.
"""

import errno
import hashlib
import json
import math
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from prunesymnet.data.messages import MOST_OF_A_VALUE, printable
from prunesymnet.errors import FileFormatError

VERSION = 1  # of the formats; a newer one is refused
LARGEST = 64 * 2**20  # bytes of a JSON file, or of a line of one: ours have kilobytes, and more would fill the memory
MOST_OF_A_PROBLEM = 200  # characters of what is wrong in a file: it may quote what is in it
# Without waiting for whoever writes to a pipe, without following a link, and without other line ends (on Windows).
_AS_IT_IS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
TRIES, PAUSE = 20, 0.05  # to put a file in its place, and seconds between: on Windows nobody may be reading the old one


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """The handle of a regular file; what is none raises an OSError that says what it is."""
    try:
        if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link", str(path))
        handle = os.open(path, flags | _AS_IT_IS, 0o666)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EMLINK) and path.is_symlink():
            raise OSError(problem.errno, "it is a link, and links are not followed", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return handle


def read_regular(path: Path, kind: str, most: int = LARGEST) -> bytes:
    """All bytes of a regular file, of which there may be `most`, or a FileFormatError that says what is wrong."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(most + 1) if size <= most else b""
    except OSError as problem:
        raise FileFormatError(f"{path}: can't be read ({problem.strerror or problem}); check the path") from None
    size = max(size, len(content))  # it may grow while it is read
    if size > most:
        raise FileFormatError(f"{path}: has {size / 2**20:.0f} MiB, more than a {kind} file ever has")
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at any moment, even if the machine stops, the old or the new one is there. What is there and
    is no regular file is left alone, with an OSError."""
    check_regular(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:MOST_OF_A_VALUE]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        _put(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _put(temporary: str, path: Path) -> None:
    """Put a file in the place of another. Where that can't be done while somebody reads the other, it is soon over."""
    for _ in range(TRIES if os.name == "nt" else 0):
        with suppress(PermissionError):
            os.replace(temporary, path)
            return
        time.sleep(PAUSE)
    os.replace(temporary, path)


def check_regular(path: Path) -> None:
    """Raise where there is something that is no regular file."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise FileExistsError(f"{path}: is there and is no regular file (a folder, a link, a pipe); name another")


def check_can_be_written(path: Path) -> None:
    """Raise before a search what writing the file would raise after it."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} is not there; make it, or name another")
    check_regular(path)
    with tempfile.TemporaryFile(dir=path.parent):
        pass


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def seal(kind: str, content: dict[str, Any], made_by: str) -> bytes:
    """The text of a file of ours. Floats that are not finite are written as text: JSON has none."""
    content = plain(content)
    whole = {
        "format": kind,
        "version": VERSION,
        "made_by": made_by,
        "sha256": _digest(content),
        "content": content,
    }
    return (json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def unseal(path: Path, kind: str) -> dict[str, Any]:
    """The content of a file of ours, or a FileFormatError that says what is wrong with it."""
    try:
        text = read_regular(path, kind).decode("utf-8")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: is no {kind} file (it is not text)") from None
    whole = read_json(text, str(path))
    if not isinstance(whole, dict) or whole.get("format") != kind:
        raise FileFormatError(f"{path}: is no {kind} file")
    version = whole.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(f"{path}: has no version, so it can't be trusted")
    if version > VERSION:
        made_by = printable(str(whole.get("made_by", "a newer version")), MOST_OF_A_VALUE)
        raise FileFormatError(
            f"{path}: has format version {printable(str(version), MOST_OF_A_VALUE)}, made by {made_by}; this one reads "
            f"up to {VERSION}: pip install --upgrade prunesymnet"
        )
    content = whole.get("content")
    try:
        same = isinstance(content, dict) and whole.get("sha256") == _digest(content)
    except (RecursionError, UnicodeEncodeError):  # nested too deeply; half a character
        raise FileFormatError(f"{path}: is not a file that PruneSymNet has written") from None
    if not same or not isinstance(content, dict):
        raise FileFormatError(f"{path}: was changed after it was written (its checksum is wrong); write it again")
    return content


def read_json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as problem:
        if not text.lstrip().startswith(("{", "[")):
            raise FileFormatError(f"{where}: is not a file that PruneSymNet has written") from None
        cut = problem.pos >= len(text.rstrip()) - 1
        reason = "it is cut off" if cut else f"line {problem.lineno}: {problem.msg}"
        raise FileFormatError(f"{where}: is not whole JSON ({reason})") from None
    except (RecursionError, ValueError):  # nested too deeply; a number of a million digits; NaN
        raise FileFormatError(f"{where}: is not a file that PruneSymNet has written") from None


def line(record: dict[str, Any]) -> bytes:
    """One line of a JSON lines file."""
    return (json.dumps(plain(record), ensure_ascii=False, allow_nan=False) + "\n").encode()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any) -> Any:
    """As JSON can say it: no tuples, and floats that are not finite as text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
