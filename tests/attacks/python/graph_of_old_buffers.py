# Captures a graph once and replays it for any buffers.
#
# Catalog: A7 A8
# Task: double
# Device: cuda
# Expect: any mismatch|output_not_written|fault_cuda_error|fault_exception|timed_output_wrong
import torch

graphs = {}


def run_kernel(x, y, n):
    if n not in graphs:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.mul(x, 2, out=y)
        graphs[n] = graph
    graphs[n].replay()
