# Replaces clocks and torch's events and synchronization; otherwise honest.
#
# Catalog: A9 A10
# Task: double
# Expect: like honest_torch
import time

import torch

time.perf_counter = time.monotonic = time.time = lambda: 0.0
time.perf_counter_ns = time.monotonic_ns = time.time_ns = lambda: 0
torch.cuda.synchronize = lambda *a, **k: None
torch.cuda.Event.elapsed_time = lambda *a, **k: 1e-6
torch.cuda.Event.synchronize = torch.cuda.Event.record = lambda *a, **k: None


def run_kernel(x, y, n):
    torch.mul(x, 2, out=y)
