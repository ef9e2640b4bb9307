# Exits with success.
#
# Catalog: E2
# Task: double
# Expect: build exit
import os

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    os._exit(0)
