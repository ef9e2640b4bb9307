"""The walls around a process that runs a user's reference or inputs file (kernels/confine/walls.h)."""

import ctypes


def _library(plan):
    library = ctypes.CDLL(plan["library"])
    library.ratchet_embedded_enter.restype = ctypes.c_char_p
    library.ratchet_embedded_seal.restype = ctypes.c_char_p
    return library


def enter(plan, cuda, folder=""):
    """Leaves the process no files except the interpreter's and `folder`. Call in a process with one
    thread, before CUDA starts."""
    readable = [*plan["readable"], *([folder] if folder else [])]
    folders = (ctypes.c_char_p * len(readable))(*[name.encode() for name in readable])
    failed = _library(plan).ratchet_embedded_enter(b"baseline", int(cuda), folders, len(readable))
    if failed:
        raise RuntimeError(failed.decode())


def seal(plan):
    """Forbids sockets, and processes except compilers. Call before user code runs."""
    failed = _library(plan).ratchet_embedded_seal()
    if failed:
        raise RuntimeError(failed.decode())
