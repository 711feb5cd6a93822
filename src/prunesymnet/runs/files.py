"""JSON files that are whole or not there, and that show whether they were changed since we wrote them.

A file of ours names its format and its version, and carries the SHA-256 of its content. Nothing in it is ever run: it
is read as numbers, names and formulas, each checked.
"""

import hashlib
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from prunesymnet.errors import FileFormatError

VERSION = 1  # of the formats; a newer one is refused
LARGEST = 64 * 2**20  # bytes of a file that is read: ours have kilobytes, and more than this would fill the memory


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at any moment, even if the machine stops, the old or the new one is there."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
        size = path.stat().st_size
        if size > LARGEST:
            raise FileFormatError(f"{path}: has {size / 2**20:.0f} MiB, more than a {kind} file ever has")
        text = path.read_bytes().decode("utf-8")
    except OSError as problem:
        raise FileFormatError(f"{path}: can't be read ({problem.strerror or problem}); check the path") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: is no {kind} file (it is not text)") from None
    whole = read_json(text, str(path))
    if not isinstance(whole, dict) or whole.get("format") != kind:
        raise FileFormatError(f"{path}: is no {kind} file")
    version = whole.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(f"{path}: has no version, so it can't be trusted")
    if version > VERSION:
        made_by = str(whole.get("made_by", "a newer version"))[:60]
        raise FileFormatError(
            f"{path}: has format version {version}, made by {made_by}; this one reads up to {VERSION}: "
            "pip install --upgrade prunesymnet"
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
