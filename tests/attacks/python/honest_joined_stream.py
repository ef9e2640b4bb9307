# Works on its own stream, which is forked from the caller's and joined with it.
#
# Catalog: honest
# Task: double
# Device: cuda
# Expect: pass
import torch

stream = None


def run_kernel(x, y, n):
    global stream
    stream = stream or torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.mul(x, 2, out=y)
    torch.cuda.current_stream().wait_stream(stream)
