"""Inputs made by a user's function: `inputs(**dims, seed)` of a ref.py, or `setup(**dims, seed)` of a
kernel. Runs in a process of its own, which knows neither the reference's answers nor other kernels.

The function returns a dict of tensors and scalars by name, or {"inputs": that dict, "outputs":
[names]}. Requests and replies:

  load      source, name of the function, scalars     -> {}
  describe  dims                                      -> tensors, outputs, scalars
  fill      dims, layout, seed, names; an arena       -> {}; the named tensors are in the arena
"""

import mmap
import os
import random
import sys

import arena
import sandbox
from calls import accepted, function_of, load_module
from messages import Failed, described, serve

KEPT_BYTES = 256 << 20  # more than the inputs that a timed session rotates through


def is_tensor(value):
    return hasattr(value, "shape") and hasattr(value, "dtype")


def split(made):
    """The function's result as values by name and names of outputs."""
    if not isinstance(made, dict):
        raise Failed(f"the function must return a dict of tensors, not {type(made).__name__}")
    if isinstance(made.get("inputs"), dict):
        return made["inputs"], list(made.get("outputs", []))
    return made, []


def dtype_of(name, value):
    short = str(value.dtype).removeprefix("torch.")
    if short not in arena.OUR_NAMES:
        raise Failed(f"{name} has the unsupported element type {short}")
    return arena.OUR_NAMES[short]


def number(value):
    """A scalar as the function gets it."""
    return int(value) if float(value).is_integer() else value


class Maker:
    """A user's function that makes inputs. It knows some of them by the seed and sizes that they were
    made from, because a check asks for the same inputs several times."""

    def __init__(self, function, file_name):
        self.function = function
        self.file_name = file_name
        self.kept = {}  # copies, the oldest first

    def make(self, given, seed):
        """Values by name and names of outputs, from dims and scalars."""
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        random.seed(seed)
        try:
            return split(self.function(**accepted(self.function, {**given, "seed": seed})))
        except Failed:
            raise
        except Exception as error:
            raise described(error, self.file_name) from error

    def inputs(self, given, seed, buffers, anew=False):
        """Those of the contract, by name. `anew`: made once more even if they are known."""
        key = (seed, tuple(sorted(given.items())))
        known = None if anew else self.kept.get(key)
        if known is None:
            values, _ = self.make(given, seed)
            made = {buffer["name"]: checked(buffer, values) for buffer in buffers}
            known = self.keep(key, made)
        return known

    def keep(self, key, made):
        """Copies, because a function may write into what it returned before."""
        self.kept.pop(key, None)
        if sum(value.nbytes for value in made.values()) > KEPT_BYTES:
            return made
        self.kept[key] = {name: copied(value) for name, value in made.items()}
        while sum(one.nbytes for kept in self.kept.values() for one in kept.values()) > KEPT_BYTES:
            self.kept.pop(next(iter(self.kept)))
        return self.kept[key]


def copied(value):
    return value.detach().clone() if hasattr(value, "detach") else value.copy()


def checked(buffer, values):
    """The buffer's value among what the function returned."""
    name = buffer["name"]
    value = values.get(name)
    if value is None or not is_tensor(value):
        raise Failed(f"the function returned no tensor {name}")
    if dtype_of(name, value) != buffer["dtype"] or list(value.shape or [1]) != buffer["shape"]:
        raise Failed(f"the function returned {name} as {value.dtype} {list(value.shape)}; the "
                     f"contract has {buffer['dtype']} {buffer['shape']}")
    return value


class Inputs:
    def __init__(self, plan):
        self.plan = plan
        self.maker = None
        self.scalars = {}

    def load(self, plan):
        file_name = os.path.basename(plan["file_name"]) or "ref.py"
        device = plan["cuda_device"]
        sandbox.enter(self.plan, device is not None, plan.get("folder", ""))
        if device is not None:
            import torch
            if torch.cuda.is_available():
                torch.cuda.set_device(device)
                torch.empty(1, device="cuda")
        sandbox.seal(self.plan)
        module = load_module("ratchet_inputs", file_name, plan["text"], plan.get("folder", ""))
        self.maker = Maker(function_of(module, plan["function"]), file_name)
        self.scalars = {name: number(value) for name, value in plan["scalars"].items()}
        return {}

    def describe(self, plan):
        values, outputs = self.maker.make({**self.scalars, **plan["dims"]}, 1)
        tensors, scalars = [], {}
        for name, value in values.items():
            if is_tensor(value):
                tensors.append({"name": name, "dtype": dtype_of(name, value),
                                "shape": [int(extent) for extent in value.shape] or [1]})
            elif isinstance(value, (bool, int, float)):
                scalars[name] = value
            elif value is not None:
                raise Failed(f"{name} must be a tensor or a number, not {type(value).__name__}")
        unknown = [name for name in outputs if name not in {t["name"] for t in tensors}]
        if unknown:
            raise Failed(f"outputs names {unknown[0]!r}, which is not a tensor in inputs")
        return {"tensors": tensors, "outputs": outputs, "scalars": scalars}

    def fill(self, plan, descriptors):
        layout = plan["layout"]
        buffers = [one for one in layout["buffers"] if one["name"] in plan["names"]]
        values, _ = self.maker.make({**self.scalars, **plan["dims"]}, plan["seed"])
        memory = mmap.mmap(descriptors[0], layout["bytes"])
        for buffer in buffers:
            store(memory, buffer, checked(buffer, values))
        return {}


def store(memory, buffer, value):
    """Copies the value's bytes to their place, without a copy between."""
    if hasattr(value, "detach"):
        import torch
        there = torch.frombuffer(memory, dtype=value.dtype, count=buffer["elements"],
                                 offset=buffer["offset"])
        there.copy_(value.detach().reshape(-1))
    else:
        import numpy
        there = numpy.frombuffer(memory, dtype=value.dtype, count=buffer["elements"],
                                 offset=buffer["offset"])
        there[:] = value.reshape(-1)


def answer(inputs, body, descriptors):
    if "load" in body:
        return inputs.load(body["load"])
    if "describe" in body:
        return inputs.describe(body["describe"])
    if "fill" in body:
        return inputs.fill(body["fill"], descriptors)
    return {"failed": {"message": "unknown request", "line": 0}}


def main(plan):
    serve(Inputs(plan), answer)
