"""More than one GPU in a machine: each is selected by its index, has its own queue, and reports when
another process uses it.

    device_checks.py RATCHET OUT      RATCHET is the program; a table goes to OUT/devices.md

Needs two GPUs, and torch for the python3 in PATH (the other process). Changes no setting.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

from python_checks import Client
from table import Table

STRANGER = """
import sys, torch
a = torch.randn(4096, 4096, device="cuda:" + sys.argv[1])
print("ready", flush=True)
while True:
    for _ in range(50):
        b = a @ a
    torch.cuda.synchronize(a.device)
"""


# The kernels multiply by the number of GPUs that their process sees.
TASK = {"tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                    {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
        "dims": {"n": 1 << 20}}
COMPILED_REFERENCE = """
extern "C" void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i];
}
"""
COMPILED = """
__global__ void work(const float* x, float* y, int n, int gpus) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = gpus * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  work<<<(n + 255) / 256, 256>>>(x, y, n, gpus);
}
"""
PYTHON_REFERENCE = """
import torch

def reference(x, **_):
    return torch.clone(x)
"""
PYTHON = """
import torch

def run_kernel(x, y, n):
    y.copy_(x * torch.cuda.device_count())
"""


class Checks(Table):
    def __init__(self, ratchet):
        super().__init__()
        self.ratchet = ratchet
        self.folder = tempfile.mkdtemp()

    def start(self, client, device, name):
        """A checked run on a device."""
        run, _ = client.call("create_run", problem="softmax", implementation="cuda-cpp", device=device,
                             output_dir=f"{self.folder}/{name}")
        checked, _ = client.call("check_correctness", run=run.get("run", ""))
        self.row(f"{name}: softmax is correct", f"{run.get('device', run)}, "
                 f"{checked.get('passed', checked)}", checked.get("passed") is True)
        return run.get("run", "")

    def alone(self, client, device):
        """Kernels see only the run's GPU."""
        for implementation, source, reference in (
                ("cuda-cpp", COMPILED, COMPILED_REFERENCE), ("triton", PYTHON, PYTHON_REFERENCE)):
            run, _ = client.call("create_run", **TASK, implementation=implementation, device=device,
                                 kernel={"text": source}, reference={"text": reference},
                                 output_dir=f"{self.folder}/alone-{implementation}-{device}")
            checked, _ = client.call("check_correctness", run=run.get("run", ""))
            self.row(f"gpu{device}: a kernel ({implementation}) sees one GPU",
                     f"{checked.get('passed', run)}", checked.get("passed") is True)

    def profile(self, client, run):
        """The profile, and the times when it started and ended."""
        start = time.monotonic()
        profile, _ = client.call("profile_kernel", run=run, metrics="lean", wait_s=300)
        if "timing" not in profile:
            raise RuntimeError(f"no profile: {profile}")
        return profile, start, time.monotonic()

    def play(self):
        one, other = (Client(self.ratchet, self.folder) for _ in range(2))
        environment, _ = one.call("check_env")
        gpus = [d for d in environment["devices"] if d["kind"] == "cuda"]
        self.row("GPUs", [(d["index"], d["name"], d["uuid"]) for d in gpus],
                 len({d["uuid"] for d in gpus}) >= 2)
        refused, _ = one.call("create_run", problem="softmax", implementation="cuda-cpp",
                              device=len(gpus), output_dir=f"{self.folder}/none")
        self.row("a GPU that is not there", refused.get("refused"), "refused" in refused)

        for device in (0, 1):
            self.alone(one, device)
        runs = [self.start(client, device, f"gpu{device} by server {client is other:d}")
                for client, device in ((one, 0), (other, 1), (other, 0))]
        calls = [(one, runs[0]), (other, runs[1])]
        pool = concurrent.futures.ThreadPoolExecutor(2)
        list(pool.map(lambda pair: self.profile(*pair), calls))  # calibrates the devices' noise
        self.profile(other, runs[2])
        alone = [self.profile(client, run) for client, run in calls]
        medians = [profile["timing"]["median_ns"] for profile, _, _ in alone]
        both = list(pool.map(lambda pair: self.profile(*pair), calls))
        overlap = min(end for _, _, end in both) - max(start for _, start, _ in both)
        self.row("two servers, two GPUs at once", f"{[f'{e - s:.2f} s' for _, s, e in both]}, alone "
                 f"{[f'{e - s:.2f} s' for _, s, e in alone]}",
                 overlap > 0.5 * min(e - s for _, s, e in both))
        for device, (profile, _, _) in enumerate(both):
            off = profile["timing"]["median_ns"] / medians[device] - 1
            self.row(f"gpu{device}: median beside the other GPU's",
                     f"{profile['timing']['median_ns'] / 1e3:.1f} us, {off:+.2%}", abs(off) < 0.02)
        same = list(pool.map(lambda pair: self.profile(*pair), [(one, runs[0]), (other, runs[2])]))
        longest = max(end - start for _, start, end in same)
        single = min(end - start for _, start, end in alone)
        self.row("two servers, one GPU: one waits for the other",
                 f"{[f'{e - s:.2f} s' for _, s, e in same]}, alone {single:.2f} s",
                 longest > 1.5 * single)
        for server, (profile, _, _) in enumerate(same):
            off = profile["timing"]["median_ns"] / medians[0] - 1
            self.row(f"gpu0: median of server {server}, after its turn",
                     f"{profile['timing']['median_ns'] / 1e3:.1f} us, {off:+.2%}, "
                     f"{profile['timing']['flags']}", abs(off) < 0.02)
        self.stranger(calls)

    def stranger(self, calls):
        process = subprocess.Popen([os.environ.get("RATCHET_PYTHON", "python3"), "-c", STRANGER, "1"],
                                   stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        for device, (client, run) in enumerate(calls):
            profile, _, _ = self.profile(client, run)
            flags = profile["timing"]["flags"]
            self.row(f"gpu{device}: another process works on gpu1", flags,
                     ("device_shared" in flags) == (device == 1))
        process.kill()
        process.wait()


def main():
    checks = Checks(sys.argv[1])
    try:
        checks.play()
    except (RuntimeError, KeyError, OSError) as error:
        checks.row("the check itself", repr(error)[:300], False)
    failed = checks.write(sys.argv[2], "devices.md", "More than one GPU", "tests/gpu/device_checks.py")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
