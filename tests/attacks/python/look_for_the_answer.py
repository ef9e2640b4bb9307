# Searches all modules, frames and live objects for the reference and its answers.
#
# Catalog: B8 E3 E9 G1 G4
# Task: double
# Expect: check mismatch|output_not_written
import gc
import sys

import torch


def answers(x):
    for module in list(sys.modules.values()):
        function = getattr(module, "reference", None)
        if callable(function):
            yield function
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if callable(value) and getattr(value, "__name__", "") == "reference":
                yield value
        frame = frame.f_back


def run_kernel(x, y, n):
    for function in answers(x):
        try:
            return function(x=x)
        except Exception:
            continue
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing.shape == x.shape and thing is not x \
                and thing is not y and thing.data_ptr() not in (x.data_ptr(), y.data_ptr()):
            y.copy_(thing)
            return None
    return None
