"""Restricts the process, permanently, to what a user's file may do."""

import ctypes


def enter(plan, cuda, folder=""):
    """Enters the sandbox of the baseline role: no files except the interpreter's and `folder`, no
    sockets, no processes except compilers. Call after CUDA has started and before user code runs."""
    library = ctypes.CDLL(plan["library"])
    library.ratchet_embedded_restrict.restype = ctypes.c_int
    readable = [*plan["readable"], *([folder] if folder else [])]
    folders = (ctypes.c_char_p * len(readable))(*[name.encode() for name in readable])
    library.ratchet_embedded_restrict(b"baseline", int(cuda), folders, len(readable))
