"""What every format makes: a problem.json with the files beside it."""

import dataclasses
import hashlib
import json
import math
import os
import re

import torch

ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4,
              "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
FOLDER = os.path.dirname(os.path.abspath(__file__))
MOST_CASES = 64
BATCH = re.compile(r"batch|^bsz?$|^b$|num_(tokens|seqs)", re.IGNORECASE)


NEEDS_GPU = ("Invalid scaling configuration", "CUDA", "cuda", "not implemented for", "NVIDIA",
             "'CPU' backend", "active drivers", "Expected all tensors to be on the same device")


class Refused(Exception):
    """Why a problem cannot be imported: one line, with the way on."""

    def __init__(self, message, line=0):
        super().__init__(message)
        self.line = line


def attributes_of(value):
    """What an object of a suite's own class holds, by name: a dataclass, or a module. None for all else."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, torch.nn.Module):
        plain = {name: one for name, one in vars(value).items()
                 if not name.startswith("_") and name != "training"}
        return {**plain, **value._parameters, **value._buffers, **value._modules}
    return None


def place_of(tensor):
    """Two tensors with the same are one in memory; on the meta device, too."""
    return tensor.untyped_storage()._cdata, tensor.storage_offset(), tensor.shape


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


def digest(files):
    """Of all files that an import read."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{files[name]}\0".encode())
    return whole.hexdigest()


class Files(dict):
    """The texts of a problem's files by name; `used` are those that the import read, `within` the names of
    sources that they hold as text."""

    def __init__(self, texts):
        super().__init__(texts)
        self.used, self.within = {}, set()

    def own(self, name):
        """Whether this is the name of the suite's own code."""
        return name in self or name in self.within

    def __getitem__(self, name):
        self.used[name] = super().__getitem__(name)
        return self.used[name]


def needs_gpu(error):
    """Whether a reference failed because a processor lacks what it calls."""
    return isinstance(error, NotImplementedError) or any(sign in str(error) for sign in NEEDS_GPU)


def bytes_note(types):
    if not types:
        return []
    kinds = ", ".join(sorted(set(types.values())))
    return [f"a kernel gets and returns {', '.join(types)} as uint8, the bytes of {kinds}: view() costs "
            "nothing"]


def tensors_in(skeleton):
    """The names of the tensors of a skeleton, in their order."""
    if isinstance(skeleton, dict) and "tensor" in skeleton:
        return [skeleton["tensor"]]
    parts = skeleton.values() if isinstance(skeleton, dict) else \
        skeleton if isinstance(skeleton, list) else []
    return [name for part in parts for name in tensors_in(part)]


def typed_kernel(types, args):
    """What a kernel needs that is written for tensors of its suite's own types."""
    numbers = {at: types[name] for at, name in enumerate(tensors_in(args)) if name in types}
    others = sorted(f"torch.{kind}" for kind in set(types.values()))
    return f"\n\nTYPES = {numbers!r}\nOTHER_TYPES = {others!r}\n\n\n{adapter('typed_kernel.py')}"


def tensor_bytes(tensor, value):
    return ITEM_BYTES.get(tensor["dtype"], 1) * math.prod(value(e) for e in tensor["shape"])


def size_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    return ""


def scaled(dims, total, limit, scale, works, steps=None):
    """Sizes that fit: batch-like dims are halved first, then whichever saves most. `total`: the bytes
    of all buffers at given sizes; `works`: whether the problem takes them; `steps`: what dims have to be
    multiples of, where that is more than 1."""
    def less_of(name):
        return halved(now[name], (steps or {}).get(name, 1))
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
        saved = {name: total(now) - total({**now, name: less_of(name)}) for name in choices}
        choices = [name for name in choices if saved[name] > 0]
        if not choices:
            raise Refused(f"its buffers need {need} bytes ({size_text(need)}), {limit} would fit, and "
                          f"no size can be reduced further than to {size_text(total(now))}: import it "
                          "for a larger device")
        batch = [name for name in choices if BATCH.search(name) and now[name] > 4]
        name = max(batch or choices, key=saved.get)
        less = {**now, name: less_of(name)}
        if works(less):
            now = less
        else:
            stuck.add(name)
    rule = "batch-like sizes halved first, then whichever saves most, until all buffers fit"
    return now, [{"dim": name, "from": dims[name], "to": now[name], "rule": rule}
                 for name in dims if now[name] != dims[name]]


def most_cases(cases):
    """As many cases as a problem gets, and what is said of the others."""
    left = len(cases) - MOST_CASES
    return cases[:MOST_CASES], [f"{left} of {len(cases)} sizes are left out: a problem gets "
                                f"{MOST_CASES} cases at most"] if left > 0 else []


def halved(value, step=1):
    half = value // 2
    if step > 1:
        return max(step, half - half % step)
    return half - half % 16 if half >= 64 else half
