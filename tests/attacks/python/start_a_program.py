# Starts another program, which only the first call may do.
#
# Catalog: E2 F5
# Task: double
# Expect: check fault_forbidden_call
import subprocess

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    subprocess.run(["/bin/true"], check=False)
    y.copy_(2 * x)
