# A hook after the call puts the work off, to a stream that nothing waits for.
#
# Catalog: H8
# Task: linear
# Device: cuda
# Expect: any unsynchronised_work|span_exceeds_events|output_not_written|mismatch|timed_output_wrong
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.later = torch.cuda.Stream()
        self.register_forward_hook(self.work)

    def work(self, _, arguments, result):
        with torch.cuda.stream(self.later):
            for _ in range(50):
                result.copy_(torch.relu(self.linear(arguments[0])))

    def forward(self, x):
        return torch.empty(x.shape[0], self.linear.out_features, device=x.device)
