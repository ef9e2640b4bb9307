"""What every format makes: a problem.json with the files beside it."""

import hashlib
import json
import math
import os
import re

ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4,
              "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
FOLDER = os.path.dirname(os.path.abspath(__file__))
BATCH = re.compile(r"batch|^bsz?$|^b$|num_(tokens|seqs)", re.IGNORECASE)


class Refused(Exception):
    """Why a problem cannot be imported: one line, with the way on."""

    def __init__(self, message, line=0):
        super().__init__(message)
        self.line = line


def identifier(text, taken):
    """A name that kernels can use as a parameter, not taken yet; `taken` gets it."""
    base = re.sub(r"\W+", "_", text).strip("_")[:56] or "value"
    base = "_" + base if base[0].isdigit() else base
    name, count = base, 2
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    taken.add(name)
    return name


def adapter(*names):
    """The code of adapters, without their docstrings."""
    parts = []
    for name in names:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            parts.append(file.read().split('"""', 2)[2].strip())
    return "\n\n\n".join(parts) + "\n"


def quoted(text):
    """A source as a string that is easy to read."""
    return "r'''" + text + "'''" if "'''" not in text and not text.endswith(("'", "\\")) \
        else "(\n" + "".join(f"    {one!r}\n" for one in text.splitlines(True)) + ")"


def reference_text(origin, sources, plan, *adapters):
    """ref.py: the suite's sources as they were found, what the import found out, and the adapter."""
    texts = "".join(f"    {name!r}: {quoted(text)},\n" for name, text in sources.items())
    name, value = plan
    return (f'"""Imported from {origin}. SOURCES is as it was found there."""\n\n'
            f"SOURCES = {{\n{texts}}}\n\n{name} = {pretty(value)}\n\n{adapter(*adapters)}")


def pretty(value):
    text = json.dumps(value, indent=1)
    return re.sub(r"\b(true|false|null)\b(?=[,\s\]}]|$)",
                  lambda word: {"true": "True", "false": "False", "null": "None"}[word[0]], text)


def digest(sources):
    whole = hashlib.sha256()
    for name in sorted(sources):
        whole.update(f"{name}\0{sources[name]}\0".encode())
    return whole.hexdigest()


def tensor_bytes(tensor, value):
    return ITEM_BYTES.get(tensor["dtype"], 1) * math.prod(value(e) for e in tensor["shape"])


def size_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    return ""


def scaled(dims, total, limit, scale, works):
    """Sizes that fit: batch-like dims are halved first, then whichever saves most. `total`: the bytes
    of all buffers at given sizes; `works`: whether the problem takes them."""
    need = total(dims)
    if need <= limit:
        return dims, []
    if scale == "none":
        raise Refused(f"its buffers need {need} bytes ({size_text(need)}), and with scale none they "
                      f"may take {limit}: leave scale out, or import it for a larger device")
    now = dict(dims)
    stuck = set()
    while total(now) > limit:
        choices = [name for name in now if now[name] > 1 and name not in stuck]
        saved = {name: total(now) - total({**now, name: halved(now[name])}) for name in choices}
        choices = [name for name in choices if saved[name] > 0]
        if not choices:
            raise Refused(f"its buffers need {need} bytes ({size_text(need)}), {limit} would fit, and "
                          f"no size can be reduced further than to {size_text(total(now))}: import it "
                          "for a larger device")
        batch = [name for name in choices if BATCH.search(name) and now[name] > 4]
        name = max(batch or choices, key=saved.get)
        less = {**now, name: halved(now[name])}
        if works(less):
            now = less
        else:
            stuck.add(name)
    rule = "batch-like sizes halved first, then whichever saves most, until all buffers fit"
    return now, [{"dim": name, "from": dims[name], "to": now[name], "rule": rule}
                 for name in dims if now[name] != dims[name]]


def halved(value):
    half = value // 2
    return half - half % 16 if half >= 64 else half
