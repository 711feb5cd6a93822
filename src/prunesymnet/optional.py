"""Packages that only some need, each an extra of its own: where one is missing, the error says what to install.

>>> import sys
>>> there, sys.modules["torch"] = sys.modules.get("torch"), None
>>> import_torch("a GPU")
Traceback (most recent call last):
ImportError: a GPU needs torch: pip install 'prunesymnet[torch]'
>>> _ = sys.modules.pop("torch") if there is None else sys.modules.update(torch=there)
"""

from typing import Any


def import_torch(what: str) -> Any:
    """torch, for GPUs and for what is to become part of a torch program. Everything else is done without it."""
    try:
        import torch
    except ImportError:
        raise ImportError(f"{what} needs torch: pip install 'prunesymnet[torch]'") from None
    return torch


def import_pint(what: str) -> Any:
    """pint, which knows units."""
    try:
        import pint
    except ImportError:
        raise ImportError(f"{what} need pint: pip install 'prunesymnet[units]'") from None
    return pint


def check_device(device: str) -> None:
    """An error where a device is asked for that this machine does not have."""
    if not device.startswith("cuda"):
        return
    torch = import_torch(f"device={device!r}")
    if not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, and this machine has no GPU that torch can use: take 'cpu'")
    number = device.partition(":")[2] or "0"
    if not number.isdecimal() or int(number) >= torch.cuda.device_count():
        known = ", ".join(f"cuda:{k}" for k in range(torch.cuda.device_count()))
        raise ValueError(f"device must be cpu or one of {known}, got {device!r}")
