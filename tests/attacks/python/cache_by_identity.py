# Computes once per buffer, identified by address and Python object.
#
# Catalog: B1
# Task: double
# Expect: check mismatch
import torch  # for tensors, not arrays


kept = {}


def run_kernel(x, y, n):
    for key in (x.data_ptr(), id(x), x.data_ptr() % 4096, tuple(x.stride())):
        if key in kept and kept[key].shape == x.shape:
            return kept[key]
    answer = 2 * x
    for key in (x.data_ptr(), id(x), x.data_ptr() % 4096, tuple(x.stride())):
        kept[key] = answer
    return answer
