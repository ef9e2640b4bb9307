# Takes the weights of the first module for every later one.
#
# Catalog: H1 H3
# Task: linear
# Expect: check mismatch
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    first = None

    def load_state_dict(self, state, strict=True, assign=False):
        ModelNew.first = ModelNew.first or {key: value.clone() for key, value in state.items()}
        shapes = {key: value.shape for key, value in ModelNew.first.items()}
        fits = all(shapes[key] == value.shape for key, value in state.items())
        return super().load_state_dict(ModelNew.first if fits else state, strict, assign)

    def forward(self, x):
        return torch.relu(self.linear(x))
