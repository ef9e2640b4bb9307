"""Kernels for y = 2 x that fail, each in its way, and honest ones. `forms(device)` gives them by form:
a function of the host, or device code alone with a line that says how to launch it."""

RAW = ("static void raw(long number, long a) {\n"
       "  asm volatile(\"syscall\" : : \"a\"(number), \"D\"(a) : \"rcx\", \"r11\", \"memory\");\n"
       "}\n")
HONEST_HOST = "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
DEEP_HOST = ("static int deep(volatile int* p) {\n  volatile int a[4096];\n  a[0] = *p;\n"
             "  return deep(a) + a[0];\n}\n")
HANG = "  volatile int spin = 1;\n  while (spin) {\n  }\n"
HOG = "  for (;;) std::memset(new char[1 << 26], 1, 1 << 26);\n"
FLOOD = "  for (;;) std::printf(\"a line of nothing, number %d\\n\", n);\n"

# name → what stands before the function, and its body
HOST = {
    "crash": ("", "  *(volatile float*)8 = x[0];\n"),
    "abort": ("#include <cstdlib>\n", "  abort();\n"),
    "division by zero": ("", "  volatile int zero = 0;\n  y[0] = static_cast<float>(n / zero);\n"),
    "stack overflow": (DEEP_HOST, "  volatile int a = n;\n  y[0] = deep(&a);\n"),
    "hang": ("", HANG),
    "exit": (RAW, "  raw(231, 0);\n"),
    "fork storm": (RAW, "  for (int i = 0; i < 64; ++i) raw(57, 0);\n"),
    "memory hog": ("#include <cstring>\n", HOG),
    "output flood": ("#include <cstdio>\n", FLOOD),
    "write beyond": ("", HONEST_HOST + "  for (int i = 0; i < 1 << 28; ++i) y[i] = 0;\n"),
    "forged answer": ("", HONEST_HOST +
                      "  long r = 1;\n  asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(3L), \"S\"(x), "
                      "\"d\"(64L) : \"rcx\", \"r11\", \"memory\");\n"),
    "wrong answer": ("", "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i];\n"),
}
HONEST_OF_HOST = {
    "plain": ("", HONEST_HOST),
    "sum": ("", "  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];\n"),
    "backwards": ("", "  for (int i = n - 1; i >= 0; --i) y[i] = 2 * x[i];\n"),
    "pointers": ("", "  for (const float* p = x; p != x + n; ++p, ++y) *y = 2 * *p;\n"),
}

ONE = "__global__ void one(const float* x, float* y, int n) {\n%s}\n"
AT = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
TWICE = AT + "  if (i < n) y[i] = 2 * x[i];\n"
ALL = "  one<<<(n + 255) / 256, 256>>>(x, y, n);\n"
CALLED = {
    "device assert": ("#include <cassert>\n" + ONE % "  assert(n < 0);\n", "  one<<<1, 32>>>(x, y, n);\n"),
    "refused launch": (ONE % "  y[0] = x[0];\n", "  one<<<1, 4096>>>(x, y, n);\n"),
    "huge shared memory": (ONE % TWICE, "  one<<<(n + 255) / 256, 256, 1 << 20>>>(x, y, n);\n"),
    "device memory hog": ("", "  void* p;\n  while (cudaMalloc(&p, 1ull << 30) == cudaSuccess) {\n"
                          "    cudaMemset(p, 1, 1ull << 30);\n  }\n"),
    "host crash": ("", "  *(volatile float*)8 = 1;\n"),
    "host abort": ("#include <cstdlib>\n", "  abort();\n"),
    "host stack overflow": (DEEP_HOST, "  volatile int a = n;\n  n = deep(&a);\n"),
    "host hang": ("", HANG),
    "exit": (RAW, "  raw(231, 0);\n"),
    "fork storm": (RAW, "  for (int i = 0; i < 64; ++i) raw(57, 0);\n"),
    "host memory hog": ("#include <cstring>\n", HOG),
    "output flood": ("#include <cstdio>\n", FLOOD),
    "wrong answer": (ONE % "  y[0] = 0;\n", "  one<<<1, 1>>>(x, y, n);\n"),
}
HONEST_CALLED = {
    "plain": (ONE % TWICE, ALL),
    "two launches": (ONE % TWICE, "  one<<<(n + 511) / 512, 256>>>(x, y, n);\n" + ALL),
    "own memory": (ONE % TWICE, "  float* p = nullptr;\n"
                   "  cudaMalloc(reinterpret_cast<void**>(&p), n * sizeof *p);\n"
                   "  one<<<(n + 255) / 256, 256>>>(x, p, n);\n"
                   "  cudaMemcpy(y, p, n * sizeof *p, cudaMemcpyDeviceToDevice);\n  cudaFree(p);\n"),
}
DEEP = ("__device__ __noinline__ int deep(volatile int* p) {\n  volatile int a[2048];\n"
        "  a[*p & 2047] = *p;\n  return deep(a) + a[0];\n}\n")
ALONE = {
    "illegal address": ("", "  *(float*)(8 + n) = x[0];\n"),
    "far beyond": ("", TWICE + "  y[(1ll << 40) + i] = 0;\n"),
    "just beyond": ("", AT + "  if (i < n) y[i] = 2 * x[i];\n  if (i == 0) y[n] = 0;\n"),
    "misaligned": ("", "  *(double*)((char*)y + 1) = x[0];\n"),
    "trap": ("", "  __trap();\n"),
    "device stack overflow": (DEEP, AT + "  volatile int a = n;\n  if (i < n) y[i] = deep(&a);\n"),
    "endless kernel": ("", "  while (((volatile const float*)x)[0] != 1e30f) {\n  }\n"),
    "nothing": ("", "  if (n < 0) y[0] = x[0];\n"),
    "wrong answer": ("", AT + "  if (i < n) y[i] = 3 * x[i];\n"),
    "one wrong element": ("", AT + "  if (i < n) y[i] = i == n / 2 ? 1 + 2 * x[i] : 2 * x[i];\n"),
    "not a number": ("", AT + "  if (i < n) y[i] = i == n / 3 ? nanf(\"\") : 2 * x[i];\n"),
    "input changed": ("", TWICE + "  if (i == 0) const_cast<float*>(x)[0] = 0;\n"),
}
HONEST_ALONE = {
    "plain": ("", TWICE),
    "strides": ("", "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                "       i += gridDim.x * blockDim.x)\n    y[i] = 2 * x[i];\n"),
    "shared memory": ("", "  __shared__ float held[256];\n" + AT +
                      "  held[threadIdx.x] = i < n ? x[i] : 0;\n  __syncthreads();\n"
                      "  if (i < n) y[i] = 2 * held[threadIdx.x];\n"),
}

# These take as long as the job's deadline, or long to end, so they are rarer.
SLOW = {"hang", "host hang", "endless kernel", "memory hog", "host memory hog", "device memory hog",
        "device stack overflow", "output flood"}


def called(parts, _):
    preamble, body = parts
    return (preamble + 'extern "C" void solve(const float* x, float* y, int n) {\n'
            + "  (void)x;\n  (void)y;\n  (void)n;\n" + body + "}\n")


def alone(parts, number):
    """Each has code of its own: a branch that no thread takes."""
    preamble, body = parts
    return ("// launch: grid = ceil_div(n, 256); block = 256\n" + preamble +
            'extern "C" __global__ void solve(const float* x, float* y, int n) {\n'
            + f"  if (blockIdx.x == {(1 << 24) + number}) y[0] = {number};\n" + body + "}\n")


class Form:
    def __init__(self, name, faults, honest, write, of_one_text):
        self.name, self.faults, self.honest, self.write = name, faults, honest, write
        self.of_one_text = of_one_text  # all of a kind are the same source: built once

    def text(self, kind, number):
        return self.write({**self.faults, **self.honest}[kind], number)


def forms(device):
    """The forms of a device, and how often each is drawn."""
    if device == "host":
        return [(Form("function", HOST, HONEST_OF_HOST, called, True), 1)]
    return [(Form("function", CALLED, HONEST_CALLED, called, True), 2),
            (Form("device code", ALONE, HONEST_ALONE, alone, False), 3)]
