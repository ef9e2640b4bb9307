# Replaces the functions of its own process that store answers.
#
# Catalog: E3 E5
# Task: double
# Expect: check output_not_written|mismatch|fault_exception
import sys

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    for name in ("arena", "embedded", "calls", "messages", "__main__"):
        module = sys.modules.get(name)
        for function in ("store", "assign_tensor", "keywords"):
            if module is not None and hasattr(module, function):
                setattr(module, function, lambda *a, **k: {})
    return 3 * x
