# A hook after the call leaves the work to a thread.
#
# Catalog: H8
# Task: linear
# Expect: any mismatch|output_not_written|timed_output_wrong|nan_in_output
import threading
import time

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.register_forward_hook(self.work)

    def work(self, _, arguments, result):
        def later():
            time.sleep(0.001)
            result.copy_(torch.relu(self.linear(arguments[0])))
        threading.Thread(target=later).start()

    def forward(self, x):
        return torch.empty(x.shape[0], self.linear.out_features, device=x.device)
