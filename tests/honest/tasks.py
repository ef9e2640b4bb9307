"""The tasks of the suite: torch references with the tolerances that authors of such tasks give, and
sizes for both devices. A task without tolerances leaves them to the server.

KernelBench judged by 1e-2 and 1e-2 at first, and judges float32 by 1e-4 now; flashinfer-bench by 1e-2;
the kernel-optimization packages by 1e-4 and 1e-3; torch.testing.assert_close by 1.3e-6 and 1e-5 for
float32, 1e-3 for float16, 1.6e-2 for bfloat16."""


def tensor(name, dtype, shape, role="in", **more):
    return {"name": name, "dtype": dtype, "shape": shape.split(","), "role": role, **more}


def gemm(dtype, host, cuda, out=None, expression="torch.matmul(a, b)", **given):
    return {"host": dict(zip("mnk", host)), "cuda": dict(zip("mnk", cuda)), **given,
            "reference": f"def reference(a, b, **_):\n    return {expression}\n",
            "tensors": [tensor("a", dtype, "m,k"), tensor("b", dtype, "k,n"),
                        tensor("c", out or dtype, "m,n", "out")]}


def rows(dtype, body, out="rows,cols", **given):
    return {"host": {"rows": 48, "cols": 768}, "cuda": {"rows": 192, "cols": 1536}, **given,
            "reference": f"def reference(x, **_):\n    {body}\n",
            "tensors": [tensor("x", dtype, "rows,cols"), tensor("y", dtype, out, "out")]}


def each(dtype, expression, **given):
    return {"host": {"n": 20000}, "cuda": {"n": 300000}, **given,
            "reference": f"def reference(x, **_):\n    return {expression}\n",
            "tensors": [tensor("x", dtype, "n"), tensor("y", dtype, "n", "out")]}


def attention(dtype, **given):
    return {"host": {"t": 96, "d": 64}, "cuda": {"t": 192, "d": 64}, **given,
            "reference": "def reference(q, k, v, **_):\n    return torch.nn.functional."
                         "scaled_dot_product_attention(q[None], k[None], v[None])[0]\n",
            "tensors": [tensor("q", dtype, "t,d"), tensor("k", dtype, "t,d"),
                        tensor("v", dtype, "t,d"), tensor("y", dtype, "t,d", "out")]}


FLOAT_GEMM = ("float32", (64, 48, 512), (192, 160, 512))
HALF_SIZES = ((64, 48, 512), (96, 80, 4096))
RMS = "x * torch.rsqrt(x.pow(2).mean(dim=1, keepdim=True) + 1e-6)"

TASKS = {
    "gemm_fp32": gemm(*FLOAT_GEMM, atol=1e-2, rtol=1e-3),
    "gemm_fp32_tight": gemm(*FLOAT_GEMM, atol=1e-4, rtol=1e-4),
    "gemm_fp32_plain": gemm(*FLOAT_GEMM),
    "gemm_fp16": gemm("float16", *HALF_SIZES, atol=1e-2, rtol=1e-2),
    "gemm_fp16_plain": gemm("float16", *HALF_SIZES),
    "gemm_bf16": gemm("bfloat16", *HALF_SIZES, atol=1e-1, rtol=1.6e-2),
    "gemm_bf16_plain": gemm("bfloat16", *HALF_SIZES),
    "gemm_int8": gemm("int8", (48, 40, 256), (96, 80, 1024), "int32",
                      "torch.matmul(a.double(), b.double()).int()"),
    "row_sum": rows("float32", "return x.sum(dim=1)", "rows", atol=1e-3, rtol=1e-3),
    "row_max": rows("float32", "return x.amax(dim=1)", "rows"),
    "total": {"host": {"n": 1000000}, "cuda": {"n": 4000000}, "atol": 1e-1, "rtol": 1e-3,
              "reference": "def reference(x, **_):\n    return x.sum().reshape(1)\n",
              "tensors": [tensor("x", "float32", "n"), tensor("y", "float32", "1", "out")]},
    "softmax": rows("float32", "return torch.softmax(x, dim=1)", atol=1e-5, rtol=1e-4),
    "softmax_loose": rows("float32", "return torch.softmax(x, dim=1)", atol=1e-4, rtol=1e-3),
    "softmax_fp16": rows("float16", "return torch.softmax(x, dim=1)"),
    "rms_norm": rows("float32", f"return {RMS}", atol=1e-4, rtol=1e-4),
    "rms_norm_bf16": rows("bfloat16", f"out, x = x.dtype, x.float()\n    return ({RMS}).to(out)"),
    "layer_norm": rows("float32", "return torch.nn.functional.layer_norm(x, x.shape[1:])",
                       atol=1e-3, rtol=1e-3),
    "scan": rows("float32", "return torch.cumsum(x, dim=1)", atol=1e-3, rtol=1e-3),
    "gelu": each("float32", "torch.nn.functional.gelu(x)", atol=1e-5, rtol=1e-4),
    "gelu_fp16": each("float16", "torch.nn.functional.gelu(x)"),
    "gelu_fp16_close": each("float16", "torch.nn.functional.gelu(x)", atol=1e-5, rtol=1e-3),
    "silu": each("float32", "torch.nn.functional.silu(x)", atol=1e-4, rtol=1e-4),
    "silu_bf16": each("bfloat16", "torch.nn.functional.silu(x)"),
    "conv1d": {"host": {"channels": 8, "outs": 8, "n": 256, "taps": 5},
               "cuda": {"channels": 16, "outs": 16, "n": 2048, "taps": 5},
               "atol": 1e-3, "rtol": 1e-3, "where": ["n >= taps"],
               "reference": "def reference(x, w, **_):\n"
                            "    return torch.nn.functional.conv1d(x[None], w)[0]\n",
               "tensors": [tensor("x", "float32", "channels,n"),
                           tensor("w", "float32", "outs,channels,taps"),
                           tensor("y", "float32", "outs,n-taps+1", "out")]},
    "conv2d": {"host": {"h": 48, "w": 40}, "cuda": {"h": 384, "w": 320}, "atol": 1e-4, "rtol": 1e-4,
               "where": ["h >= 3", "w >= 3"],
               "reference": "def reference(x, f, **_):\n    return torch.nn.functional.conv2d("
                            "x[None, None], f[None, None])[0, 0]\n",
               "tensors": [tensor("x", "float32", "h,w"), tensor("f", "float32", "3,3"),
                           tensor("y", "float32", "h-2,w-2", "out")]},
    "attention": attention("float32", atol=1e-3, rtol=1e-3),
    "attention_bf16": attention("bfloat16"),
    "histogram": {"host": {"n": 20000, "bins": 64}, "cuda": {"n": 500000, "bins": 256},
                  "reference": "def reference(x, bins, **_):\n"
                               "    return torch.bincount(x, minlength=bins).int()\n",
                  "tensors": [tensor("x", "int32", "n", init="indices(bins)"),
                              tensor("y", "int32", "bins", "out")]},
    "quantize": {"host": {"rows": 48, "cols": 256}, "cuda": {"rows": 192, "cols": 1024},
                 "atol": 1, "rtol": 0,
                 "reference": "def reference(x, **_):\n"
                              "    s = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127\n"
                              "    return torch.clamp(torch.round(x / s), -128, 127).to(torch.int8)\n",
                 "tensors": [tensor("x", "float32", "rows,cols"),
                             tensor("y", "int8", "rows,cols", "out")]},
}
