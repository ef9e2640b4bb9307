"""Tasks with torch references and usual tolerances, and kernels that people write for them."""

GEMM = {"dims": {"m": 64, "n": 48, "k": 512},
        "reference": "def reference(a, b, **_):\n    return torch.matmul(a, b)\n"}


def gemm(dtype, **given):
    return {**GEMM, **given, "tensors": [("a", dtype, "m,k", "in"), ("b", dtype, "k,n", "in"),
                                         ("c", dtype, "m,n", "out")]}


def rows(dtype, reference, out="rows,cols", **given):
    return {"dims": {"rows": 48, "cols": 768}, "reference": reference, **given,
            "tensors": [("x", dtype, "rows,cols", "in"), ("y", dtype, out, "out")]}


def each(dtype, expression, **given):
    return {"dims": {"n": 20000}, "reference": f"def reference(x, **_):\n    return {expression}\n",
            **given, "tensors": [("x", dtype, "n", "in"), ("y", dtype, "n", "out")]}


TASKS = {
    "gemm_fp32": gemm("float32", atol=1e-2, rtol=1e-3),
    "gemm_fp32_plain": gemm("float32"),
    "gemm_fp16": gemm("float16", atol=1e-2, rtol=1e-2),
    "gemm_fp16_plain": gemm("float16"),
    "gemm_bf16": gemm("bfloat16", atol=1e-1, rtol=1.6e-2),
    "gemm_bf16_plain": gemm("bfloat16"),
    "gemm_int8": {"dims": {"m": 48, "n": 40, "k": 256},
                  "reference": "def reference(a, b, **_):\n"
                               "    return torch.matmul(a.int(), b.int())\n",
                  "tensors": [("a", "int8", "m,k", "in"), ("b", "int8", "k,n", "in"),
                              ("c", "int32", "m,n", "out")]},
    "row_sum": rows("float32", "def reference(x, **_):\n    return x.sum(dim=1)\n", "rows",
                    atol=1e-3, rtol=1e-3),
    "row_max": rows("float32", "def reference(x, **_):\n    return x.amax(dim=1)\n", "rows"),
    "total": {"dims": {"n": 1000000}, "atol": 1e-1, "rtol": 1e-3,
              "reference": "def reference(x, **_):\n    return x.sum().reshape(1)\n",
              "tensors": [("x", "float32", "n", "in"), ("y", "float32", "1", "out")]},
    "softmax": rows("float32", "def reference(x, **_):\n    return torch.softmax(x, dim=1)\n",
                    atol=1e-5, rtol=1e-4),
    "softmax_fp16": rows("float16", "def reference(x, **_):\n    return torch.softmax(x, dim=1)\n"),
    "rms_norm": rows("float32", "def reference(x, **_):\n    return x * torch.rsqrt("
                     "x.pow(2).mean(dim=1, keepdim=True) + 1e-6)\n", atol=1e-4, rtol=1e-4),
    "rms_norm_bf16": rows("bfloat16", "def reference(x, **_):\n    v = x.float()\n    return (v * "
                          "torch.rsqrt(v.pow(2).mean(dim=1, keepdim=True) + 1e-6)).to(x.dtype)\n"),
    "layer_norm": rows("float32", "def reference(x, **_):\n    return torch.nn.functional."
                       "layer_norm(x, x.shape[1:])\n", atol=1e-3, rtol=1e-3),
    "scan": rows("float32", "def reference(x, **_):\n    return torch.cumsum(x, dim=1)\n",
                 atol=1e-3, rtol=1e-3),
    "gelu": each("float32", "torch.nn.functional.gelu(x)", atol=1e-5, rtol=1e-4),
    "gelu_fp16": each("float16", "torch.nn.functional.gelu(x)"),
    "silu_bf16": each("bfloat16", "torch.nn.functional.silu(x)"),
    "conv1d": {"dims": {"channels": 8, "outs": 8, "n": 256, "taps": 5}, "atol": 1e-3, "rtol": 1e-3,
               "reference": "def reference(x, w, **_):\n"
                            "    return torch.nn.functional.conv1d(x[None], w)[0]\n",
               "tensors": [("x", "float32", "channels,n", "in"),
                           ("w", "float32", "outs,channels,taps", "in"),
                           ("y", "float32", "outs,n-taps+1", "out")]},
    "conv2d": {"dims": {"h": 48, "w": 40}, "atol": 1e-4, "rtol": 1e-4,
               "reference": "def reference(x, f, **_):\n    return torch.nn.functional.conv2d("
                            "x[None, None], f[None, None])[0, 0]\n",
               "tensors": [("x", "float32", "h,w", "in"), ("f", "float32", "3,3", "in"),
                           ("y", "float32", "h-2,w-2", "out")]},
    "attention": {"dims": {"t": 96, "d": 64}, "atol": 1e-3, "rtol": 1e-3,
                  "reference": "def reference(q, k, v, **_):\n    return torch.nn.functional."
                               "scaled_dot_product_attention(q[None], k[None], v[None])[0]\n",
                  "tensors": [("q", "float32", "t,d", "in"), ("k", "float32", "t,d", "in"),
                              ("v", "float32", "t,d", "in"), ("y", "float32", "t,d", "out")]},
    "attention_bf16": {"dims": {"t": 96, "d": 64},
                       "reference": "def reference(q, k, v, **_):\n    return torch.nn.functional."
                                    "scaled_dot_product_attention(q[None], k[None], v[None])[0]\n",
                       "tensors": [("q", "bfloat16", "t,d", "in"), ("k", "bfloat16", "t,d", "in"),
                                   ("v", "bfloat16", "t,d", "in"), ("y", "bfloat16", "t,d", "out")]},
    "histogram": {"dims": {"n": 20000, "bins": 64},
                  "reference": "def reference(x, bins, **_):\n"
                               "    return torch.bincount(x, minlength=bins).int()\n",
                  "tensors": [("x", "int32", "n", "in", "indices(bins)"),
                              ("y", "int32", "bins", "out")]},
    "quantize": {"dims": {"rows": 48, "cols": 256}, "atol": 1, "rtol": 0,
                 "reference": "def reference(x, **_):\n"
                              "    s = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127\n"
                              "    return torch.clamp(torch.round(x / s), -128, 127).to(torch.int8)\n",
                 "tensors": [("x", "float32", "rows,cols", "in"), ("y", "int8", "rows,cols", "out")]},
}

HEAD = "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <vector>\n"


def cpp(parameters, body):
    return f'{HEAD}extern "C" void solve({parameters}) {{\n{body}\n}}\n'


def product(kind, inner, out=None):
    return cpp(f"const {kind}* a, const {kind}* b, {out or kind}* c, int m, int n, int k",
               "for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) {\n" + inner + "\n}")


def by_row(body, kind="float"):
    return cpp(f"const {kind}* x, {kind}* y, int rows, int cols",
               "for (int r = 0; r < rows; ++r) {\n" + body + "\n}")


def python(parameters, body):
    return f"import torch\n\n\ndef run_kernel({parameters}, **_):\n    {body}\n"


AT = "a[i * k + l]) * float(b[l * n + j])"
NAIVE = f"float s = 0; for (int l = 0; l < k; ++l) s += float({AT}; c[i * n + j] = s;"
REVERSED = f"float s = 0; for (int l = k - 1; l >= 0; --l) s += float({AT}; c[i * n + j] = s;"
EIGHT = (f"float p[8] = {{}}; for (int l = 0; l < k; ++l) p[l % 8] += float({AT}; "
         "c[i * n + j] = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));")
TILES = (f"float s = 0; for (int t = 0; t < k; t += 32) {{ float p = 0; for (int l = t; "
         f"l < std::min(k, t + 32); ++l) p += float({AT}; s += p; }} c[i * n + j] = s;")
FUSED = ("float s = 0; for (int l = 0; l < k; ++l) s = std::fma(float(a[i * k + l]), "
         "float(b[l * n + j]), s); c[i * n + j] = s;")
SPLIT = (f"float p[2] = {{}}; for (int l = 0; l < k; ++l) p[l * 2 / k] += float({AT}; "
         "c[i * n + j] = p[0] + p[1];")
ORDERS = {"naive": NAIVE, "reversed": REVERSED, "eight": EIGHT, "tiles": TILES, "fused": FUSED}
MOST = "const float* v = x + r * cols; float* o = y + r * cols; float most = -INFINITY, sum = 0; " \
       "for (int c = 0; c < cols; ++c) most = std::max(most, v[c]); "

KERNELS = {
    **{f"gemm_fp32_{name}": ("gemm_fp32", product("float", inner)) for name, inner in ORDERS.items()},
    "gemm_fp32_plain_naive": ("gemm_fp32_plain", product("float", NAIVE)),
    "gemm_fp32_plain_eight": ("gemm_fp32_plain", product("float", EIGHT)),
    **{f"gemm_fp16_{name}": ("gemm_fp16", product("_Float16", inner))
       for name, inner in ORDERS.items()},
    "gemm_fp16_plain_naive": ("gemm_fp16_plain", product("_Float16", NAIVE)),
    "gemm_fp16_plain_split": ("gemm_fp16_plain", product("_Float16", SPLIT)),
    "gemm_bf16_torch": ("gemm_bf16", python("a, b, c", "torch.matmul(a, b, out=c)")),
    "gemm_bf16_float": ("gemm_bf16", python("a, b, c", "c.copy_(a.float() @ b.float())")),
    "gemm_bf16_transposed": ("gemm_bf16", python("a, b, c", "c.copy_((b.t() @ a.t()).t())")),
    "gemm_bf16_halves": ("gemm_bf16", python(
        "a, b, c, k", "h = k // 2\n    c.copy_(a[:, :h].float() @ b[:h].float() + "
        "a[:, h:].float() @ b[h:].float())")),
    "gemm_bf16_chunks": ("gemm_bf16", python(
        "a, b, c, k", "c.copy_(sum(a[:, i:i + 64].float() @ b[i:i + 64].float() "
        "for i in range(0, k, 64)))")),
    "gemm_bf16_plain_torch": ("gemm_bf16_plain", python("a, b, c", "torch.matmul(a, b, out=c)")),
    "gemm_bf16_plain_chunks": ("gemm_bf16_plain", python(
        "a, b, c, k", "c.copy_(sum(a[:, i:i + 64].float() @ b[i:i + 64].float() "
        "for i in range(0, k, 64)))")),
    "gemm_int8_naive": ("gemm_int8", product(
        "int8_t", "int s = 0; for (int l = 0; l < k; ++l) s += a[i * k + l] * b[l * n + j]; "
        "c[i * n + j] = s;", "int32_t")),
    "gemm_int8_split": ("gemm_int8", product(
        "int8_t", "int s[2] = {}; for (int l = 0; l < k; ++l) s[l % 2] += a[i * k + l] * "
        "b[l * n + j]; c[i * n + j] = s[0] + s[1];", "int32_t")),
    "row_sum_naive": ("row_sum", by_row(
        "float s = 0; for (int c = 0; c < cols; ++c) s += x[r * cols + c]; y[r] = s;")),
    "row_sum_lanes": ("row_sum", by_row(
        "float p[32] = {}; for (int c = 0; c < cols; ++c) p[c % 32] += x[r * cols + c]; "
        "for (int w = 16; w > 0; w /= 2) for (int i = 0; i < w; ++i) p[i] += p[i + w]; "
        "y[r] = p[0];")),
    "row_max": ("row_max", by_row(
        "float m = -INFINITY; for (int c = 0; c < cols; ++c) m = std::fmax(m, x[r * cols + c]); "
        "y[r] = m;")),
    "total_naive": ("total", cpp("const float* x, float* y, int n",
                                 "float s = 0; for (int i = 0; i < n; ++i) s += x[i]; *y = s;")),
    "total_blocks": ("total", cpp(
        "const float* x, float* y, int n", "float s = 0; for (int t = 0; t < n; t += 1024) { "
        "float p = 0; for (int i = t; i < std::min(n, t + 1024); ++i) p += x[i]; s += p; } *y = s;")),
    "softmax_three_passes": ("softmax", by_row(
        MOST + "for (int c = 0; c < cols; ++c) sum += o[c] = std::exp(v[c] - most); "
        "for (int c = 0; c < cols; ++c) o[c] /= sum;")),
    "softmax_online": ("softmax", by_row(
        "const float* v = x + r * cols; float* o = y + r * cols; float most = -INFINITY, sum = 0; "
        "for (int c = 0; c < cols; ++c) { float next = std::max(most, v[c]); "
        "sum = sum * std::exp(most - next) + std::exp(v[c] - next); most = next; } "
        "float inverse = 1 / sum; "
        "for (int c = 0; c < cols; ++c) o[c] = std::exp(v[c] - most) * inverse;")),
    "softmax_exp2": ("softmax", by_row(
        MOST + "for (int c = 0; c < cols; ++c) sum += o[c] = std::exp2((v[c] - most) * "
        "1.44269504f); for (int c = 0; c < cols; ++c) o[c] /= sum;")),
    "softmax_fp16": ("softmax_fp16", by_row(
        "const _Float16* v = x + r * cols; _Float16* o = y + r * cols; float most = -INFINITY, "
        "sum = 0; for (int c = 0; c < cols; ++c) most = std::max(most, float(v[c])); "
        "for (int c = 0; c < cols; ++c) sum += std::exp(float(v[c]) - most); "
        "for (int c = 0; c < cols; ++c) o[c] = std::exp(float(v[c]) - most) / sum;", "_Float16")),
    "rms_norm": ("rms_norm", by_row(
        "float s = 0; for (int c = 0; c < cols; ++c) s += x[r * cols + c] * x[r * cols + c]; "
        "float f = 1 / std::sqrt(s / cols + 1e-6f); "
        "for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * f;")),
    "rms_norm_bf16": ("rms_norm_bf16", python(
        "x, y, cols", "v = x.float()\n    y.copy_(v / (v.square().sum(1, keepdim=True) / cols + "
        "1e-6).sqrt())")),
    "layer_norm_two_passes": ("layer_norm", by_row(
        "float m = 0, q = 0; for (int c = 0; c < cols; ++c) m += x[r * cols + c]; m /= cols; "
        "for (int c = 0; c < cols; ++c) { float d = x[r * cols + c] - m; q += d * d; } "
        "float f = 1 / std::sqrt(q / cols + 1e-5f); "
        "for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - m) * f;")),
    "layer_norm_one_pass": ("layer_norm", by_row(
        "float m = 0, q = 0; for (int c = 0; c < cols; ++c) { float v = x[r * cols + c]; m += v; "
        "q += v * v; } m /= cols; float f = 1 / std::sqrt(std::max(q / cols - m * m, 0.0f) + "
        "1e-5f); for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - m) * f;")),
    "layer_norm_welford": ("layer_norm", by_row(
        "float m = 0, q = 0; for (int c = 0; c < cols; ++c) { float v = x[r * cols + c], d = v - m; "
        "m += d / (c + 1); q += d * (v - m); } float f = 1 / std::sqrt(q / cols + 1e-5f); "
        "for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - m) * f;")),
    "scan_naive": ("scan", by_row(
        "float s = 0; for (int c = 0; c < cols; ++c) y[r * cols + c] = s += x[r * cols + c];")),
    "scan_blocks": ("scan", by_row(
        "float carry = 0; for (int t = 0; t < cols; t += 64) { float s = 0; "
        "int end = std::min(cols, t + 64); for (int c = t; c < end; ++c) "
        "y[r * cols + c] = carry + (s += x[r * cols + c]); carry += s; }")),
    "gelu": ("gelu", cpp("const float* x, float* y, int n", "for (int i = 0; i < n; ++i) "
                         "y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));")),
    "gelu_fp16": ("gelu_fp16", cpp(
        "const _Float16* x, _Float16* y, int n", "for (int i = 0; i < n; ++i) { float v = x[i]; "
        "y[i] = 0.5f * v * (1 + std::erf(v * 0.70710678f)); }")),
    "silu_bf16": ("silu_bf16", python("x, y", "v = x.float()\n    y.copy_(v / (1 + (-v).exp()))")),
    "conv1d_direct": ("conv1d", cpp(
        "const float* x, const float* w, float* y, int channels, int outs, int n, int taps",
        "int wide = n - taps + 1; for (int o = 0; o < outs; ++o) for (int i = 0; i < wide; ++i) { "
        "float s = 0; for (int c = 0; c < channels; ++c) for (int t = 0; t < taps; ++t) "
        "s += x[c * n + i + t] * w[(o * channels + c) * taps + t]; y[o * wide + i] = s; }")),
    "conv2d_direct": ("conv2d", cpp(
        "const float* x, const float* f, float* y, int h, int w",
        "for (int i = 0; i + 2 < h; ++i) for (int j = 0; j + 2 < w; ++j) { float s = 0; "
        "for (int p = 0; p < 3; ++p) for (int q = 0; q < 3; ++q) "
        "s += x[(i + p) * w + j + q] * f[p * 3 + q]; y[i * (w - 2) + j] = s; }")),
    "attention_naive": ("attention", cpp(
        "const float* q, const float* k, const float* v, float* y, int t, int d",
        "std::vector<float> p(t); float scale = 1 / std::sqrt(float(d)); "
        "for (int i = 0; i < t; ++i) { float most = -INFINITY, sum = 0; "
        "for (int j = 0; j < t; ++j) { float s = 0; for (int e = 0; e < d; ++e) "
        "s += q[i * d + e] * k[j * d + e]; p[j] = s * scale; most = std::max(most, p[j]); } "
        "for (int j = 0; j < t; ++j) sum += p[j] = std::exp(p[j] - most); "
        "for (int e = 0; e < d; ++e) { float o = 0; for (int j = 0; j < t; ++j) "
        "o += p[j] * v[j * d + e]; y[i * d + e] = o / sum; } }")),
    "attention_online": ("attention", cpp(
        "const float* q, const float* k, const float* v, float* y, int t, int d",
        "std::vector<float> o(d); float scale = 1 / std::sqrt(float(d)); "
        "for (int i = 0; i < t; ++i) { float most = -INFINITY, sum = 0; "
        "std::fill(o.begin(), o.end(), 0.0f); for (int j = 0; j < t; ++j) { float s = 0; "
        "for (int e = 0; e < d; ++e) s += q[i * d + e] * scale * k[j * d + e]; "
        "float next = std::max(most, s), back = std::exp(most - next), p = std::exp(s - next); "
        "sum = sum * back + p; for (int e = 0; e < d; ++e) o[e] = o[e] * back + p * v[j * d + e]; "
        "most = next; } for (int e = 0; e < d; ++e) y[i * d + e] = o[e] / sum; }")),
    "attention_bf16": ("attention_bf16", python(
        "q, k, v, y, d", "s = q.float() @ k.float().t() / d ** 0.5\n"
        "    p = torch.softmax(s, dim=1).to(torch.bfloat16)\n"
        "    y.copy_(p.float() @ v.float())")),
    "histogram": ("histogram", cpp(
        "const int* x, int* y, int n, int bins", "std::fill(y, y + bins, 0); "
        "for (int i = 0; i < n; ++i) ++y[x[i]];")),
    "quantize": ("quantize", cpp(
        "const float* x, int8_t* y, int rows, int cols",
        "for (int r = 0; r < rows; ++r) { float most = 1e-8f; for (int c = 0; c < cols; ++c) "
        "most = std::max(most, std::fabs(x[r * cols + c])); float f = 127 / most; "
        "for (int c = 0; c < cols; ++c) y[r * cols + c] = int8_t(std::fmin(127.0f, std::fmax("
        "-128.0f, std::nearbyint(x[r * cols + c] * f)))); }")),
}
