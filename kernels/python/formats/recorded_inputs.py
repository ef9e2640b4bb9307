"""Added to ref.py where inputs of the suite are recorded: RECORDED has the sizes and tensors of each
recording."""

import base64
import zlib


def recorded(seed, dims, device):
    """The recorded inputs of these sizes, in turns where there are several recordings of them."""
    there = [one["tensors"] for one in RECORDED if one["dims"] == dims]
    if not there:
        sizes = ", ".join(f"{name}={size}" for name, size in dims.items())
        raise ValueError(f"no inputs were recorded at {sizes}")
    found = {}
    for name, (kind, shape, text) in there[seed % len(there)].items():
        content = bytearray(zlib.decompress(base64.b64decode(text)))
        found[name] = torch.frombuffer(content, dtype=getattr(torch, kind)).reshape(shape).to(device)
    return found
