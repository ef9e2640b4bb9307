# Works on its own stream, which nothing waits for.
#
# Catalog: A1 A2
# Task: double
# Device: cuda
# Expect: any unsynchronised_work|span_exceeds_events|output_not_written|mismatch|timed_output_wrong
import torch

stream = None


def run_kernel(x, y, n):
    global stream
    stream = stream or torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(50):
            y.copy_(2 * x)
