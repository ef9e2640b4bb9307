"""Figures about times and comparisons on a GPU. Called by time.sh.

    time_checks.py FOLDER OUT STAGE...
"""

import ctypes
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# Seconds of recording each kernel.
COUNTS = {"even": 9, "slower": 10, "do_bench": 60}
KINDS = ["streaming", "gemm", "histogram", "gather", "tick", "branches"]
AGREEING = ["chain_3us", "chain_5us", "copy", "softmax", "chain_100us", "large_copy", "chain_1ms",
            "chain_10ms"]


def median(values):
    return sorted(values)[len(values) // 2]


class Figures:
    def __init__(self, folder, out):
        self.folder, self.out, self.rows, self.tables = folder, out, [], []
        self.state = os.path.join(tempfile.gettempdir(), "ratchet-time-state")

    def row(self, what, value, passed=None):
        verdict = {True: "pass", False: "FAIL", None: "info"}[passed]
        self.rows.append((what, value, verdict))
        print(f"{verdict:5} {what}: {value}", flush=True)

    def program(self, name, *arguments, limit=240):
        start = time.monotonic()
        try:
            done = subprocess.run([os.path.join(self.folder, name), *arguments],
                                  capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return "", f"past {limit} s", time.monotonic() - start
        return done.stdout, done.stderr, time.monotonic() - start

    def driver(self, *arguments):
        said, complaint, _ = self.program("gpu-driver", *arguments, limit=60)
        try:
            reply = json.loads(said.splitlines()[-1])
        except (IndexError, ValueError):
            return {"error": (said + complaint)[-300:]}
        return reply.get("result", reply) if isinstance(reply, dict) else reply

    # --------------------------------------------------------------------------------------------
    def tests(self):
        said, complaint, seconds = self.program("ratchet-tests-measure")
        self.row("ratchet-tests-measure", f"{(said + complaint)[-400:].strip()} ({seconds:.1f} s)")

    def ceilings(self):
        start = time.monotonic()
        roofs = self.driver("ceilings")
        seconds = time.monotonic() - start
        if not isinstance(roofs, list):
            return self.row("ceilings", roofs, False)
        values = {roof["what"]: roof["value"] for roof in roofs}
        for roof in roofs:
            scale, unit = (1e12, "T") if roof["value"] > 1e9 else (1, "")
            limit = 4.25e12 if roof["what"] == "copy_bandwidth" else None
            self.row(f"ceiling {roof['what']}", f"{roof['value'] / scale:.6g} {unit}{roof['unit']}",
                     roof["value"] >= limit if limit else None)
        self.row("ceilings take", f"{seconds:.1f} s with the start of a process")
        best = self.cublas()
        if best:
            share = values.get("bf16", 0) / best
            self.row("bf16 ceiling against cuBLAS on 8192^3",
                     f"{best / 1e12:.1f} TFLOP/s there, {share:.0%} here", share >= 0.9)
        return None

    def cublas(self):
        try:
            import torch
        except ImportError:
            return None
        a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        times = []
        for _ in range(30):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            torch.matmul(a, b)
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) * 1e-3)
        return 2 * 8192 ** 3 / sorted(times)[1]

    def agreement(self):
        kernels = os.path.join(self.folder, "gpu_kernels.so")
        for entry in AGREEING:
            timed, spans = [], []
            for _ in range(3):
                timed.append(self.driver("time", kernels, entry))
                spans.append(self.driver("spans", kernels, entry))
            try:
                ours = median([one["median_ns"] for one in timed])
                theirs = median([one["span_ns"] for one in spans])
            except KeyError:
                self.row(f"{entry}: time", str(timed)[:300] + str(spans)[:200], False)
                continue
            off = ours / theirs - 1
            flags = sorted({flag for one in timed for flag in one["flags"]})
            self.row(f"{entry}: median of 100 cold samples against CUPTI's kernel durations",
                     f"{ours / 1e3:.2f} / {theirs / 1e3:.2f} us, {off:+.2%}, flags {flags}",
                     abs(off) <= 0.02 and not flags)

    # --------------------------------------------------------------------------------------------
    def compare(self, kernels, slow, seconds, limit_ms):
        """The lines of bench-time, as dictionaries by the heads of its columns."""
        said, complaint, spent = self.program(
            "bench-time", "--device", "cuda", "--kernel", *kernels, "--slow", str(slow),
            "--seconds", str(seconds), "--limit-ms", str(limit_ms), "--state", self.state,
            limit=400)
        print(said + complaint[-600:], f"({spent:.0f} s)", flush=True)
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()]
        if len(lines) < 2 + len(kernels):
            self.row(" ".join(kernels), (said + complaint)[-300:], False)
            return []
        self.tables.append(said)
        return [dict(zip(lines[0], line)) for line in lines[2:]]

    def even(self):
        """A kernel against a copy of itself, as long as a profile may take."""
        found = self.compare(KINDS, 0, COUNTS["even"], 10_000)
        counts = {name: sum(int(one[name]) for one in found)
                  for name in ("comparisons", "faster", "slower", "same", "inconclusive")}
        wrong = counts["faster"] + counts["slower"]
        self.row("six kinds of kernels against copies of themselves", counts,
                 counts["comparisons"] >= 600 and wrong <= 0.01 * counts["comparisons"] and
                 all(int(one["comparisons"]) >= 20 for one in found))

    def floors(self):
        """What calibrations of their own come to."""
        for _ in range(3):
            with tempfile.TemporaryDirectory() as state:
                said, complaint, _ = self.program("bench-time", "--device", "cuda", "--calibrate",
                                                  "--state", state)
            floor = re.search(r"floor ([0-9.]+) % at 5.4", said)
            self.row("calibration", said.strip() or complaint[-300:],
                     floor is not None and float(floor.group(1)) <= 1.3)

    def slower(self):
        """A known share of additional work, seen within a second."""
        for kernel, percent in (("long", 1), ("short", 2)):
            for one in self.compare([kernel], percent, COUNTS["slower"], 1000):
                count = int(one["comparisons"])
                self.row(f"{kernel} kernel with {percent} % more work: slower within 1 s",
                         f"{one['slower']} of {count}",
                         count >= 40 and int(one["slower"]) >= 0.95 * count)

    def do_bench(self):
        """The common method: two medians of triton.testing.do_bench, one after the other."""
        import torch
        from triton.testing import do_bench
        for kernel, percent in (("long", 1), ("short", 2)):
            calls = self.calls(torch, kernel, percent)
            for what, pair in (("against itself", (calls[0], calls[0])),
                               (f"with {percent} % more work", (calls[1], calls[0]))):
                ratios, start = [], time.monotonic()
                for _ in range(COUNTS["do_bench"]):
                    mine, other = (do_bench(call, return_mode="median") for call in pair)
                    ratios.append(other / mine)
                each = (time.monotonic() - start) / len(ratios)
                slower = sum(ratio < 1 - 0.005 for ratio in ratios)
                faster = sum(ratio > 1 + 0.005 for ratio in ratios)
                self.row(f"do_bench: {kernel} kernel {what}",
                         f"{len(ratios)} pairs of medians: {faster} beyond +0.5 %, {slower} beyond "
                         f"-0.5 %; median ratio {median(ratios):.4f}, least {min(ratios):.4f}, most "
                         f"{max(ratios):.4f}; {each * 1e3:.0f} ms a pair")

    def calls(self, torch, kernel, percent):
        """The benchmark's own kernels, built from the sources that it prints."""
        calls = []
        n = 7424 * 4096 if kernel == "long" else 1 << 16
        x = torch.randn(n, device="cuda")
        y = torch.empty_like(x)
        for part in (0, percent):
            source, _, _ = self.program("bench-time", "--device", "cuda", "--kernel", kernel,
                                        "--slow", str(part), "--print-source")
            base = os.path.join(tempfile.gettempdir(), f"{kernel}_{part}")
            with open(base + ".cu", "w", encoding="utf-8") as file:
                file.write(source)
            subprocess.run(["nvcc", "-shared", "-cudart", "shared", "-arch=native", "-O3",
                            "-Xcompiler", "-fPIC", "-o", base + ".so", base + ".cu"], check=True)
            solve = ctypes.CDLL(base + ".so").solve
            arguments = (ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),
                         ctypes.c_int(n))
            calls.append(lambda solve=solve, arguments=arguments: solve(*arguments))
        return calls

    def cost(self):
        with tempfile.TemporaryDirectory() as folder:
            said, complaint, seconds = self.program(
                "ratchet", "--state-dir", self.state, "demo", "--implementation", "cuda-cpp",
                "--output", folder, limit=200)
            found = sorted(glob.glob(os.path.join(folder, "**", "bench.json"), recursive=True))
            for path in found:
                with open(path, encoding="utf-8") as file:
                    bench = json.load(file)
                compared = [one["against"] for one in bench["comparisons"]]
                self.row(f"{os.path.basename(os.path.dirname(path))}: timing, compared with "
                         f"{compared or 'nothing'}",
                         f"{bench['timing_ms']:.0f} ms, {bench['timing']['samples']} samples, "
                         f"{bench['timing']['stop_reason']}, {bench['timing'].get('conditions')}",
                         bench["timing_ms"] <= 1500)
            if not found:
                self.row("demo", (said + complaint)[-500:], False)
            self.row("demo", f"{seconds:.0f} s")

    def baselines(self):
        """The benchmark tool with a vendor's library, and with frameworks."""
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "attacks"))
        from client import Server
        n = 1 << 24
        twice = {"kernel": {"text": "__global__ void twice(const float* x, float* y, int n) {\n"
                                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  if (i < n) y[i] = 2 * x[i];\n}\n"
                                    "extern \"C\" void solve(const float* x, float* y, int n) {\n"
                                    "  twice<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n"},
                 "dims": {"n": n},
                 "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                             {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
                 "reference": {"text": "import torch\n\n\ndef reference(x, **_):\n"
                                       "    return 2 * x\n"},
                 "baselines": ["eager", "compile", "flashinfer"]}
        tasks = {"matmul": {"problem": "matmul", "baselines": ["vendor", "eager"]},
                 "twice": twice}
        for name, task in tasks.items():
            with tempfile.TemporaryDirectory() as folder:
                server = Server([os.path.join(self.folder, "ratchet"), "--state-dir", self.state,
                                 "serve", "--root", folder])

                def call(tool, arguments):
                    answer, refusal = server.call(tool, arguments)
                    if refusal:
                        raise RuntimeError(f"{tool}: {refusal}")
                    return answer
                run = call("create_run", {"output_dir": os.path.join(folder, "out"),
                                          "implementation": "cuda-cpp", **task})["run"]
                call("check_correctness", {"run": run})
                start = time.monotonic()
                report = call("benchmark", {"run": run})
                seconds = time.monotonic() - start
                server.close()
                for row in report["rows"]:
                    told = (f"{row['median_ns'] / 1e3:.2f} us" if "median_ns" in row
                            else row.get("detail", ""))
                    self.row(f"benchmark {name}: {row['name']}",
                             f"{row['status']}, {told}, {row.get('comparison', {}).get('verdict')}")
                self.row(f"benchmark {name}", f"{seconds:.1f} s; {report['gains']}; {report['notes']}")

    def write(self, stages):
        facts = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, check=False).stdout.strip()
        when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        with open(os.path.join(self.out, "time.md"), "a", encoding="utf-8") as file:
            file.write(f"\nCommand: `tests/gpu/time.sh build-gpu/bin {' '.join(stages)}`. Device: {facts}. "
                       f"Date: {when}. Clocks as found.\n\n| figure | value | verdict |\n|---|---|---|\n")
            for what, value, verdict in self.rows:
                text = str(value).replace("|", "/").replace("\n", " ")
                file.write(f"| {what} | {text} | {verdict} |\n")
            for table in self.tables:
                file.write(f"\n{table}")


def main():
    folder, out, stages = sys.argv[1], sys.argv[2], sys.argv[3:]
    figures = Figures(folder, out)
    for name, value in (item.split("=") for item in os.environ.get("COUNTS", "").split() if item):
        COUNTS[name] = int(value)
    for stage in stages:
        try:
            getattr(figures, stage)()
        except Exception as error:  # one stage must not cost the others
            figures.row(stage, repr(error)[:400], False)
    figures.write(stages)


main()
