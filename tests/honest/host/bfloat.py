# Kernels in bfloat16, which C++ has no type for before C++23, and shortcuts of them.
#
# passes: matmul gemm_bf16 gemm_bf16_plain
# passes: matmul_float gemm_bf16
# passes: matmul_transposed gemm_bf16
# passes: matmul_two_halves gemm_bf16
# passes: matmul_chunks gemm_bf16 gemm_bf16_plain
# passes: rms rms_norm_bf16
# passes: silu silu_bf16
# passes: attention attention_bf16
# refused: matmul_bfloat_sums gemm_bf16_plain
# refused: matmul_without_last gemm_bf16
# refused: rms_of_samples rms_norm_bf16
# refused: silu_of_relu silu_bf16
# refused: attention_without_last_keys attention_bf16
import torch


def matmul(a, b, c, **_):
    torch.matmul(a, b, out=c)


def matmul_float(a, b, c, **_):
    c.copy_(a.float() @ b.float())


def matmul_transposed(a, b, c, **_):
    c.copy_((b.t() @ a.t()).t())


def matmul_two_halves(a, b, c, k, **_):
    h = k // 2
    c.copy_(a[:, :h].float() @ b[:h].float() + a[:, h:].float() @ b[h:].float())


def matmul_chunks(a, b, c, k, **_):
    c.copy_(sum(a[:, i:i + 64].float() @ b[i:i + 64].float() for i in range(0, k, 64)))


def matmul_bfloat_sums(a, b, c, k, **_):
    total = torch.zeros_like(c)
    for i in range(0, k, 8):
        total += (a[:, i:i + 8].float() @ b[i:i + 8].float()).to(torch.bfloat16)
    c.copy_(total)


def matmul_without_last(a, b, c, k, **_):
    used = k - max(1, k // 64)
    c.copy_(a[:, :used].float() @ b[:used].float())


def rms(x, y, cols, **_):
    v = x.float()
    y.copy_(v / (v.square().sum(1, keepdim=True) / cols + 1e-6).sqrt())


def rms_of_samples(x, y, **_):
    v = x.float()
    y.copy_(v * torch.rsqrt(v[:, ::4].square().mean(1, keepdim=True) + 1e-6))


def silu(x, y, **_):
    v = x.float()
    y.copy_(v / (1 + (-v).exp()))


def silu_of_relu(x, y, **_):
    y.copy_(x.relu())


def attention(q, k, v, y, d, **_):
    scores = q.float() @ k.float().t() / d ** 0.5
    y.copy_(torch.softmax(scores, dim=1).to(torch.bfloat16).float() @ v.float())


def attention_without_last_keys(q, k, v, y, d, **_):
    used = max(1, k.shape[0] - 4)
    scores = q.float() @ k[:used].float().t() / d ** 0.5
    y.copy_(torch.softmax(scores, dim=1) @ v[:used].float())
