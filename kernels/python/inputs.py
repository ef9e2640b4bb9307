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
import sys

import arena
import sandbox
from calls import accepted, function_of, load_module
from messages import Failed, described, serve


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


class Inputs:
    def __init__(self, plan):
        self.plan = plan
        self.function = None
        self.file_name = ""
        self.scalars = {}

    def load(self, plan):
        self.file_name = os.path.basename(plan["file_name"]) or "ref.py"
        device = plan["cuda_device"]
        sandbox.enter(self.plan, device is not None, plan.get("folder", ""))
        if device is not None:
            import torch
            if torch.cuda.is_available():
                torch.cuda.set_device(device)
                torch.empty(1, device="cuda")
        sandbox.seal(self.plan)
        module = load_module("ratchet_inputs", self.file_name, plan["text"], plan.get("folder", ""))
        self.function = function_of(module, plan["function"])
        self.scalars = {name: int(value) if float(value).is_integer() else value
                        for name, value in plan["scalars"].items()}
        return {}

    def make(self, dims, seed):
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        try:
            given = {**self.scalars, **dims, "seed": seed}
            return split(self.function(**accepted(self.function, given)))
        except Failed:
            raise
        except Exception as error:
            raise described(error, self.file_name) from error

    def describe(self, plan):
        values, outputs = self.make(plan["dims"], 1)
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
        values, _ = self.make(plan["dims"], plan["seed"])
        layout = plan["layout"]
        memory = mmap.mmap(descriptors[0], layout["bytes"])
        for buffer in layout["buffers"]:
            if buffer["name"] in plan["names"]:
                self.copy(memory, buffer, values)
        memory.close()
        return {}

    def copy(self, memory, buffer, values):
        name = buffer["name"]
        value = values.get(name)
        if value is None or not is_tensor(value):
            raise Failed(f"the function returned no tensor {name}")
        if dtype_of(name, value) != buffer["dtype"] or list(value.shape or [1]) != buffer["shape"]:
            raise Failed(f"the function returned {name} as {value.dtype} {list(value.shape)}; the "
                         f"contract has {buffer['dtype']} {buffer['shape']}")
        if hasattr(value, "detach"):
            import torch
            flat = value.detach().contiguous().cpu().reshape(-1)
            content = flat.view(torch.uint8).numpy().tobytes()
        else:
            content = value.tobytes()
        memory[buffer["offset"]: buffer["offset"] + len(content)] = content


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
