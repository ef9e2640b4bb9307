# Returns its answer instead of writing it.
#
# Catalog: honest
# Task: softmax
# Expect: pass
import torch


def run_kernel(x, y, rows, cols):
    return {"y": torch.softmax(x, dim=1)}
