#!/usr/bin/env python3
"""How long a check and a profile of a torch module take, beside those of a compiled kernel of the same operator
with the same reference in torch.

    tests/gpu/module_times.py RATCHET OUT [ROUNDS [SECONDS]]     RATCHET_PYTHON names a Python with torch

Aim: at most 1.5 times as long. A table goes to OUT/module_times.md. Without a GPU, small sizes on the
processor try the script. Changes no setting of the device.
"""

import pathlib
import statistics
import sys
import tempfile
import time

from served_table import ServedTable

AIM = 1.5
STEPS = ("create_run", "check_correctness", "profile_kernel")
REFERENCE = """import torch


def reference(x, weight, bias, **_):
    return torch.relu(x * weight + bias)
"""
CUDA = """__global__ void scaled(const float* x, const float* weight, const float* bias, float* y, int n, int k) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n * k) y[at] = fmaxf(0.0f, x[at] * weight[at % k] + bias[at % k]);
}
extern "C" void solve(const float* x, const float* weight, const float* bias, float* y, int n, int k) {
  scaled<<<(n * k + 255) / 256, 256>>>(x, weight, bias, y, n, k);
}
"""
CPP = """extern "C" void solve(const float* x, const float* weight, const float* bias, float* y, int n, int k) {
  for (int at = 0; at < n * k; ++at) {
    const float value = x[at] * weight[at % k] + bias[at % k];
    y[at] = value > 0 ? value : 0;
  }
}
"""
MODULE = """import torch


class ModelNew(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(k))
        self.bias = torch.nn.Parameter(torch.empty(k))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)
"""
STATE = {name: {"tensor": name} for name in ("weight", "bias")}
STYLES = {
    "solve": {},
    "module": {"call": "module", "entry": "ModelNew",
               "signature": {"init": [{"dim": "k"}], "state": STATE, "args": [{"tensor": "x"}],
                             "returns": {"tensor": "y"}}}}


def tensor(name, shape, role):
    return {"name": name, "dtype": "float32", "shape": shape, "role": role}


class Times(ServedTable):
    def asked(self, style):
        """Seconds of each step."""
        self.runs += 1
        ending, text = (".py", MODULE) if style == "module" else (".cu", CUDA) if self.gpu else (".cpp", CPP)
        kernel = self.root / f"kernel{self.runs}{ending}"
        kernel.write_text(text + f"{'#' if ending == '.py' else '//'} {self.runs}\n", encoding="utf-8")
        reference = self.root / "ref.py"
        reference.write_text(REFERENCE, encoding="utf-8")
        wide = ["n", "k"]
        arguments = {"kernel": {"path": str(kernel)}, "reference": {"path": str(reference)}, **STYLES[style],
                     "dims": {"n": 4096, "k": 4096} if self.gpu else {"n": 256, "k": 256},
                     "tensors": [tensor("x", wide, "in"), tensor("weight", ["k"], "in"),
                                 tensor("bias", ["k"], "in"), tensor("y", wide, "out")],
                     "work": {"bytes": "8*n*k", "flops": "2*n*k"},
                     "output_dir": str(self.root / f"run{self.runs}")}
        seconds, run = [], {}
        for step in STEPS:
            begin = time.monotonic()
            answer, refused = self.server.call(step, run or arguments)
            seconds.append(time.monotonic() - begin)
            if refused is not None or answer.get("passed") is False:
                raise RuntimeError(f"{style}, {step}: {refused or answer['reasons']}")
            run = {"run": answer["run"]}
        return seconds

    def all(self, rounds):
        for style in STYLES:  # imports torch, builds the judge, measures the roofs
            self.row(f"{style}: first time", ", ".join(
                f"{step} {seconds:.2f} s" for step, seconds in zip(STEPS, self.asked(style))), None)
        series = {style: [] for style in STYLES}
        for _ in range(rounds):
            if time.monotonic() > self.end:
                break
            for style, seconds in series.items():
                seconds.append(self.asked(style))
        for at, step in enumerate(STEPS):
            solve, module = (statistics.median(one[at] for one in series[style]) for style in STYLES)
            self.row(f"{step}, medians of {len(series['solve'])}",
                     f"module {module:.2f} s, solve {solve:.2f} s: {module / solve:.2f} times",
                     None if step == "create_run" or not self.gpu else module <= AIM * solve)


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        times = Times(ratchet, pathlib.Path(folder), float(sys.argv[4]) if len(sys.argv) > 4 else 45)
        try:
            times.all(rounds)
        except (RuntimeError, statistics.StatisticsError) as error:
            times.row("everything was asked", str(error)[:300], False)
        failed = times.write(out, "module_times.md", "Check and profile of a module, beside a compiled kernel",
                             "tests/gpu/module_times.py")
        times.server.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
