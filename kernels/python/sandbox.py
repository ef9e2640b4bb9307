"""Takes away what a user's file must not have, for the rest of the process."""

import ctypes


def enter(plan, cuda, folder=""):
    """As a baseline's worker: no files but the interpreter's and `folder`, no sockets, no other
    processes but compilers. After CUDA was started, before anything of the user's runs."""
    library = ctypes.CDLL(plan["library"])
    library.ratchet_embedded_restrict.restype = ctypes.c_int
    readable = [*plan["readable"], *([folder] if folder else [])]
    folders = (ctypes.c_char_p * len(readable))(*[name.encode() for name in readable])
    library.ratchet_embedded_restrict(b"baseline", int(cuda), folders, len(readable))
