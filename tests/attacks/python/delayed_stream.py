# Delays its work on a stream by more than any timed window.
#
# Catalog: A2
# Task: double
# Device: cuda
# Expect: any unsynchronised_work|span_exceeds_events|output_not_written|mismatch|timed_output_wrong
import torch

stream = None


def run_kernel(x, y, n):
    global stream
    stream = stream or torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(2_000_000)
        torch.mul(x, 2, out=y)
