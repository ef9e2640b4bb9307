# A CUDA graph of its own, for the buffers that it was given.
#
# Catalog: honest
# Task: linear
# Device: cuda
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.graph = None

    def forward(self, x):
        if self.graph is None or self.place != x.data_ptr():
            aside = torch.cuda.Stream()
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                torch.relu(self.linear(x))  # libraries allocate before a capture
            torch.cuda.current_stream().wait_stream(aside)
            self.graph, self.place = torch.cuda.CUDAGraph(), x.data_ptr()
            with torch.cuda.graph(self.graph):
                self.result = torch.relu(self.linear(x))
        self.graph.replay()
        return self.result
