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


KINDS = ("auto", "cpu", "cuda", "mps")  # of devices; cuda:1 is the second GPU


def check_device_name(device: Any) -> None:
    """An error where text is no name of a device."""
    kind, colon, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if kind not in KINDS or (colon and (kind != "cuda" or not number.isdecimal())):
        raise ValueError(f"device must be auto, cpu, cuda (or cuda:1 ...) or mps, got {device!r}")


def check_device(device: str) -> None:
    """An error where a device is asked for that this machine does not have."""
    check_device_name(device)
    if device in ("auto", "cpu"):
        return
    torch = import_torch(f"device={device!r}")
    if device == "mps":
        if not torch.backends.mps.is_available():
            raise ValueError("device is 'mps', and this machine has no GPU of Apple's that torch can use: take 'cpu'")
        return
    if not torch.cuda.is_available():
        raise ValueError(f"device is {device!r}, and this machine has no GPU that torch can use: take 'cpu'")
    if int(device.partition(":")[2] or 0) >= torch.cuda.device_count():
        known = ", ".join(f"cuda:{k}" for k in range(torch.cuda.device_count()))
        raise ValueError(f"device must be cpu or one of {known}, got {device!r}")


def device_of(device: str) -> str:
    """What "auto" means here: an NVIDIA GPU if torch is installed and has one, and else the CPU. Other devices are what
    they say. The answer takes as long as torch takes to import, so it is asked for where a GPU would pay."""
    if device != "auto":
        return device
    try:
        import torch
    except ImportError:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"
