"""Python kernels on a machine with a GPU, through the server as a client sees it.

    python_checks.py RATCHET OUT      RATCHET is the program; a table goes to OUT/python.md

Needs torch and Triton for the python3 in PATH. Changes no setting of the GPU.
"""

import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


DOUBLE_TASK = {
    "implementation": "triton", "dims": {"n": 1 << 22},
    "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
    "work": {"bytes": "8*n", "flops": "n"},
    "reference": {"text": "import torch\ndef reference(x, **_):\n    return 2 * x\n"},
}

HONEST = """
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

def run_kernel(x, y, n):
    double[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
"""

AUTOTUNED = HONEST.replace("@triton.jit", """@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (512, 2048) for w in (4, 8)],
    key=["n"])
@triton.jit""").replace("(triton.cdiv(n, 1024),)", "lambda meta: (triton.cdiv(n, meta['BLOCK']),)"
                        ).replace(", BLOCK=1024)", ")")

RETURNS = "import torch\ndef run_kernel(x, y, n):\n    return 2 * x\n"

# name → (kernel, a reason that the build or the check must give; None: it must pass)
KERNELS = {
    "honest": (HONEST, None),
    "autotuned": (AUTOTUNED, None),
    "returns its output": (RETURNS, None),
    "changes the input": (RETURNS.replace("return 2 * x", "y.copy_(2 * x); x.zero_()"), "input"),
    "patches torch": ("import torch\ntorch.allclose = torch.equal = lambda *a, **k: True\n"
                      "def run_kernel(x, y, n):\n    y.copy_(3 * x)\n", "mismatch"),
    "does nothing": ("def run_kernel(x, y, n):\n    pass\n", "output_not_written"),
    "keeps its first answer": (
        "kept = []\ndef run_kernel(x, y, n):\n    kept.append(2 * x) if not kept else 0\n"
        "    y.copy_(kept[0]) if kept[0].shape == y.shape else y.copy_(2 * x)\n", "mismatch"),
    "starts a program": ("import subprocess\ndef run_kernel(x, y, n):\n"
                         "    subprocess.run(['/bin/true']); y.copy_(2 * x)\n", "forbidden_call"),
    "reads the state folder": (
        "import os\ndef run_kernel(x, y, n):\n    os.listdir('/home'); y.copy_(2 * x)\n",
        "PermissionError"),
    "raises": ("def run_kernel(x, y, n):\n    y.copy_(2 * z)\n", "NameError"),
    "illegal address": (HONEST.replace("mask=at < n)", "mask=at < n * 0 + 1073741824)").replace(
        "x + at,", "x + at + 1000000000000,"), "cuda"),
    "second stream, not joined": (
        "import torch\ns = None\ndef run_kernel(x, y, n):\n    global s\n"
        "    s = s or torch.cuda.Stream()\n    with torch.cuda.stream(s):\n"
        "        for i in range(50): y.copy_(2 * x)\n", None),
}


class Client:
    def __init__(self, ratchet, state, *options):
        environment = {**os.environ, "XDG_STATE_HOME": state}
        self.log = os.path.join(state, "server.log")
        self.process = subprocess.Popen(
            [ratchet, "serve", "--root", "/", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(self.log, "w"), env=environment, text=True)
        self.number = 0
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "checks", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    raise RuntimeError(f"the server ended: {log.read()[-1000:]}")
            reply = json.loads(line)
            if reply.get("id") == self.number and "method" not in reply:
                return reply

    def call(self, tool, **arguments):
        """The structured answer, or {"refused": text}; and seconds."""
        start = time.monotonic()
        reply = self.request("tools/call", {"name": tool, "arguments": arguments})
        seconds = time.monotonic() - start
        result = reply.get("result")
        if result is None:
            return {"refused": json.dumps(reply.get("error"))}, seconds
        if result.get("isError"):
            return {"refused": result["content"][0]["text"]}, seconds
        return result["structuredContent"], seconds


def run_kernel_checks(client, folder, rows):
    for name, (kernel, reason) in KERNELS.items():
        output = tempfile.mkdtemp(dir=folder) + "/run"
        created, built_s = client.call("create_run", kernel={"text": kernel}, output_dir=output,
                                       **DOUBLE_TASK)
        told = json.dumps(created)
        checked_s, profile, passed = 0, None, False
        if "run" in created:
            checked, checked_s = client.call("check_correctness", run=created["run"])
            told = json.dumps(checked.get("reasons", checked))
            passed = checked.get("passed", False)
            if passed:
                profile, _ = client.call("profile_kernel", run=created["run"])
                told = json.dumps(profile.get("reasons", profile))
        median = (profile or {}).get("timing", {}).get("median_ns")
        verdict = (profile or {}).get("timing", {}).get("verdict")
        invalid = verdict == "invalid" or (profile is not None and "refused" in profile)
        if reason is None and name.startswith("second stream"):
            good = not passed or invalid
        elif reason is None:
            good = passed and not invalid
        else:
            good = not passed and reason in told
        rows.append([name, "yes" if good else "NO", f"{built_s:.2f}", f"{checked_s:.2f}",
                     f"{median / 1e3:.1f}" if median else "", told[:160].replace("|", "/")])


def softmax_times(client, folder, lines):
    check_ms = []
    run = None
    for i in range(4):
        created, create_s = client.call("create_run", problem="softmax", implementation="triton",
                                        output_dir=f"{folder}/softmax{i}")
        if "run" not in created:
            lines.append(f"- create_run refused: {created}")
            return
        run = created["run"]
        checked, wall_s = client.call("check_correctness", run=run)
        check_ms.append(wall_s * 1e3)
        lines.append(f"- softmax 4096x4096, run {i}: create_run {create_s:.2f} s, "
                     f"check_correctness {wall_s:.2f} s (wall), passed {checked.get('passed')}, "
                     f"{len(checked.get('cases', []))} executions")
    lines.append(f"- check_correctness after the first: median "
                 f"{statistics.median(check_ms[1:]):.0f} ms")
    profile, seconds = client.call("profile_kernel", run=run)
    timing = profile.get("timing", {})
    lines.append(f"- profile_kernel {seconds:.2f} s: median {timing.get('median_ns')} ns, engine "
                 f"{profile.get('engine')}, bound {profile.get('bound')}, kernels "
                 f"{[k.get('name') for k in profile.get('kernels', [])]}, refused "
                 f"{profile.get('refused')}")
    report, seconds = client.call(
        "benchmark", run=run, baselines=["pytorch-eager", "torch-compile", "flashinfer"])
    lines.append(f"- benchmark {seconds:.1f} s: {report.get('refused', '')}")
    for row in report.get("rows", []):
        lines.append(f"  - {row['name']}: {row['status']} median {row.get('median_ns')} ns, "
                     f"speedup {row.get('speedup_median')}, {str(row.get('detail'))[:200]}")


def main():
    ratchet, out = sys.argv[1], sys.argv[2]
    folder = tempfile.mkdtemp()
    client = Client(ratchet, folder)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                             "--format=csv,noheader"], capture_output=True, text=True,
                            check=False).stdout.strip()
    lines = ["# Python kernels on a GPU", "",
             f"Command: `tests/gpu/python_checks.py`, {datetime.date.today()}, {device}", ""]
    rows = []
    softmax_times(client, folder, lines)
    try:
        run_kernel_checks(client, folder, rows)
    except RuntimeError as error:
        lines.append(f"- {error}")
    lines += ["", "| kernel | as it should | create_run s | check_correctness s | median µs | "
              "what was said |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    with open(os.path.join(folder, "server.log"), encoding="utf-8") as log:
        lines += ["", "Last lines of the server:", "```", *log.read().splitlines()[-15:], "```"]
    text = "\n".join(lines) + "\n"
    with open(os.path.join(out, "python.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    sys.exit(0 if all(row[1] == "yes" for row in rows) and rows else 1)


if __name__ == "__main__":
    main()
