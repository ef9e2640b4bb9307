"""The k largest of every row, largest first; equal ones by index, which torch.topk does not promise."""

import torch


def reference(x, k, **_):
    values, order = torch.sort(x, dim=1, descending=True, stable=True)
    return values[:, :k].contiguous(), order[:, :k].to(torch.int32)
