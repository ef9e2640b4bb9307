"""Depthwise 3 x 3 convolution, padding 1, stride 1, with sums in at least float32."""

import torch


def reference(x, weight, **_):
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    y = torch.nn.functional.conv2d(x.to(kind), weight.to(kind).unsqueeze(1), padding=1, groups=x.shape[1])
    return y.to(x.dtype)
