"""A Python reference: one process serves all cases and seeds of a check.

  load  the reference's source                     -> framework, module tolerances
  run   an arena in, an arena for the answer       -> {}; with "wide" every floating-point tensor is
        float64, and so is what the reference creates without a type of its own; with
        "oversized" buffers are larger than what it takes and answers with

A failure of the reference is reported as {"failed": {"message", "line"}}; any other failure is a bug
in ratchet.
"""

import mmap
import os

import arena
import sandbox
from calls import function_of, keywords, load_module
from messages import Failed, described, serve


class Reference:
    def __init__(self, plan):
        self.plan = plan
        self.module = None
        self.file_name = ""
        self.torch = False
        self.device = "cpu"

    def load(self, plan):
        self.file_name = os.path.basename(plan["file_name"]) or "ref.py"
        self.torch = arena.wants_torch(plan["text"])
        cuda = self.torch and plan["cuda_device"] is not None
        sandbox.enter(self.plan, cuda, plan.get("folder", ""))
        if cuda:
            self.use_cuda(plan["cuda_device"])
        sandbox.seal(self.plan)
        self.module = load_module("ratchet_reference", self.file_name, plan["text"],
                                  plan.get("folder", ""))
        function_of(self.module, "reference")
        if self.torch:
            arena.compute_exactly()
        answer = {"framework": "torch" if self.torch else "numpy"}
        for name in ("atol", "rtol"):
            value = getattr(self.module, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                answer[name] = float(value)
        return answer

    def use_cuda(self, device):
        """Selects the device, as ref.py files of task packages expect."""
        import torch
        if not torch.cuda.is_available():
            return
        torch.cuda.set_device(device)
        torch.empty(1, device="cuda")
        self.device = f"cuda:{device}"

    def run(self, plan, descriptors):
        size = plan["layout"]["bytes"]
        answer = mmap.mmap(descriptors[1], size)
        with mmap.mmap(descriptors[0], size, prot=mmap.PROT_READ) as sent:
            with memoryview(sent) as content:  # a slice of `sent` itself would be a copy more
                answer[:] = content
        values = self.arena(answer, plan["layout"], plan.get("oversized", False))
        function = self.module.reference
        inputs = {b["name"] for b in plan["layout"]["buffers"]
                  if b["role"] != "out" and b["init"] != "zeros"}
        arguments = keywords(function, plan["arguments"], values.values, plan["dims"], inputs)
        try:
            with arena.default_type(self.torch and plan.get("wide", False)):
                arena.store(values, function(**arguments))
        except Failed:
            raise
        except Exception as error:
            raise described(error, self.file_name) from error
        values.finish({"out", "inout"})
        return {}

    def check(self, plan, descriptors):
        layout = plan["layout"]
        inputs, outputs = {}, {}
        for descriptor, roles, values in ((descriptors[0], {"in", "inout"}, inputs),
                                          (descriptors[1], {"out", "inout"}, outputs)):
            # A write to it changes a private copy of its page.
            memory = mmap.mmap(descriptor, layout["bytes"], flags=mmap.MAP_PRIVATE)
            tensors = self.arena(memory, layout, False).values
            values.update({b["name"]: tensors[b["name"]] for b in layout["buffers"]
                           if b["role"] in roles})
        function = function_of(self.module, "check_outputs")
        inputs.update(keywords(lambda **given: given, [one for one in plan["arguments"]
                                                       if one["kind"] != "tensor"], {}, plan["dims"]))
        try:
            objection = function(inputs, outputs)
        except Exception as error:
            objection = described(error, self.file_name).args[0]
        return {"objection": str(objection or "")}

    def arena(self, memory, layout, oversized):
        if self.torch:
            return arena.TorchArena(memory, layout, self.device, oversized)
        return arena.NumpyArena(memory, layout, oversized)


def answer(reference, body, descriptors):
    if "load" in body:
        return reference.load(body["load"])
    if "run" in body:
        return reference.run(body["run"], descriptors)
    if "check" in body:
        return reference.check(body["check"], descriptors)
    return {"failed": {"message": "unknown request", "line": 0}}


def main(plan):
    serve(Reference(plan), answer)
