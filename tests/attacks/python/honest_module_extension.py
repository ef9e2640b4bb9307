# A CUDA extension, compiled by torch before anything is timed.
#
# Catalog: honest
# Task: linear
# Device: cuda
# Expect: pass
import ctypes

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
__global__ void add_and_clip(float* y, const float* bias, int count, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = fmaxf(y[i] + bias[i % width], 0.0f);
}
extern "C" void run(float* y, const float* bias, int count, int width, cudaStream_t stream) {
  add_and_clip<<<(count + 255) / 256, 256, 0, stream>>>(y, bias, count, width);
}
"""
library = ctypes.CDLL(load_inline(name="clip", cpp_sources="", cuda_sources=SOURCE,
                                  is_python_module=False, no_implicit_headers=True))


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        y = x @ self.linear.weight.t()
        library.run(ctypes.c_void_p(y.data_ptr()), ctypes.c_void_p(self.linear.bias.data_ptr()),
                    y.numel(), y.shape[1],
                    ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        return y
