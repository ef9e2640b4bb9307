"""Counters on a machine with a GPU: their values, their agreement with Nsight Compute, their cost.

    counter_checks.py FOLDER OUT [record] [cost] [agree]

FOLDER holds gpu-driver and the kernel libraries, see counters.sh. Without a part: all three.
Writes labeled.json (every metric of the labeled kernels, for the tests of the diagnosis) and
counters.md with counters.json (the comparison) to OUT. Changes no setting of the GPU.
"""

import csv
import datetime
import json
import os
import shutil
import subprocess
import sys
import threading
import time

LABELED = ["large_memory", "l2", "compute_fma", "tensor", "latency", "occupancy_registers",
            "occupancy_shared", "barrier", "bank_conflicts", "uncoalesced", "divergence", "spills",
            "tail", "small_grid", "launch_bound", "atomics", "fp64", "instruction_cache",
            "tma_bound", "large_mixed"]
# Kernel library, entry.
COMPARED_KERNELS = [("gpu_kernels.so", "copy"), ("gpu_kernels.so", "softmax"),
                    ("counter_kernels.so", "sgemm"), ("counter_kernels.so", "gemm_bf16"),
                    ("counter_kernels.so", "histogram")]
# Exact counts: determined by the program.
COUNTS = ["smsp__inst_executed.sum", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
          "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          "smsp__sass_inst_executed_op_global_red.sum", "launch__registers_per_thread",
          "launch__grid_size", "launch__waves_per_multiprocessor"]
# Rates and shares: these also depend on the run.
RATES = ["gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
         "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
         "dram__bytes_read.sum", "lts__t_sectors.sum",
         "sm__warps_active.avg.pct_of_peak_sustained_active",
         "smsp__issue_active.avg.pct_of_peak_sustained_active",
         "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
         "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
         "smsp__thread_inst_executed_per_inst_executed.ratio"]
CONTEXT = ["sm__cycles_elapsed.max", "sm__cycles_elapsed.avg.per_second",
           "dram__cycles_elapsed.avg.per_second", "dram__bytes_write.sum",
           "lts__t_sector_hit_rate.pct"]
COUNT_LIMIT, RATE_LIMIT = 0.001, 0.02
SMALL = 0.5  # percentage points; shares that differ by less agree
REPEATS = 7


class Checks:
    def __init__(self, folder, out):
        self.folder, self.out, self.rows = folder, out, []

    def driver(self, what, library, entry, *arguments, limit=90):
        """The answer and the seconds until it arrived, not counting the end of the process."""
        start = time.monotonic()
        process = subprocess.Popen([os.path.join(self.folder, "gpu-driver"), what,
                                    os.path.join(self.folder, library), entry, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watch = threading.Timer(limit, process.kill)
        watch.start()
        said = process.stdout.readline()
        seconds = time.monotonic() - start
        rest, complaint = process.communicate()
        watch.cancel()
        try:
            reply = json.loads(said)
        except ValueError:
            reply = {"error": f"exit {process.returncode}: {(said + rest)[-300:]} {complaint[-300:]}"}
        return reply.get("result", reply), seconds

    def row(self, name, value, passed):
        verdict = {True: "pass", False: "FAIL", None: "info"}[passed]
        self.rows.append({"check": name, "value": value, "verdict": verdict})
        if passed is not True:
            print(f"{verdict:5} {name}: {value}", flush=True)

    # ------------------------------------------------------------------------------------ labeled
    def record(self):
        """Every metric of every labeled kernel, and the duration of a call."""
        recorded = {}
        for entry in LABELED:
            timed, _ = self.driver("time", "labeled_kernels.so", entry)
            counted, _ = self.driver("count-set", "labeled_kernels.so", entry, "full")
            kernels = counted.get("kernels") or []
            recorded[entry] = {"median_ns": timed.get("median_ns"),
                               "launches": len(counted.get("launches", [])),
                               "metrics": kernels[0]["metrics"] if kernels else {},
                               "unknown": counted.get("unknown_metrics")}
            self.row(f"labeled {entry} is counted",
                     f"{len(recorded[entry]['metrics'])} metrics, {timed.get('median_ns')} ns, "
                     f"{counted.get('unavailable', counted.get('error', ''))}"
                     f"{timed.get('error', '')}{timed.get('fault') or ''}",
                     len(recorded[entry]["metrics"]) > 60)
        with open(os.path.join(self.out, "labeled.json"), "w", encoding="utf-8") as file:
            file.write("{\n" + ",\n".join(f' "{entry}": {json.dumps(one, sort_keys=True)}'
                                           for entry, one in sorted(recorded.items())) + "\n}\n")

    # ----------------------------------------------------------------------------------------- ncu
    def ncu(self, library, entry, *options):
        """The median over the launches of one ncu run, by metric name."""
        done = subprocess.run(
            ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
             *options, "--metrics", ",".join(COUNTS + RATES + CONTEXT),
             os.path.join(self.folder, "gpu-driver"), "run", os.path.join(self.folder, library),
             entry], capture_output=True, text=True, timeout=120, check=False)
        rows = list(csv.DictReader(line for line in done.stdout.splitlines()
                                   if line.startswith('"')))[1:]  # the first row holds the units
        found = {}
        for row in rows:
            for name, text in row.items():
                try:
                    found.setdefault(name, []).append(float(text.replace(",", "")))
                except (ValueError, AttributeError):
                    pass
        return {name: sorted(values)[len(values) // 2] for name, values in found.items() if values}

    def ours(self, library, entry):
        runs = []
        for _ in range(REPEATS):
            counted, _ = self.driver("count", library, entry, *COUNTS, *RATES, *CONTEXT)
            kernels = counted.get("kernels") or [{"metrics": {}}]
            runs.append(kernels[0]["metrics"])
        return {name: sorted(run[name] for run in runs)[len(runs) // 2] for name in runs[0]
                if all(name in run for run in runs)}

    def agree(self):
        if not shutil.which("ncu"):
            self.row("counters against ncu", "ncu is not installed", None)
            return
        for library, entry in COMPARED_KERNELS:
            # In kernel replay ncu restores the outputs between passes, and the kernel pays for about
            # 2.4 MB of that; so each pass runs in its own process.
            theirs = self.ncu(library, entry, "--cache-control", "all", "--replay-mode", "application")
            ours = self.ours(library, entry)
            warm = self.ncu(library, entry, "--cache-control", "none")
            for name in CONTEXT:
                self.row(f"{entry}: {name} ours / ncu / ncu as it is",
                         f"{ours.get(name, 0):.6g} / {theirs.get(name, 0):.6g} / "
                         f"{warm.get(name, 0):.6g}", None)
            self.row(f"{entry}: duration ours / ncu / ncu as it is",
                     f"{ours.get('gpu__time_duration.sum')} / "
                     f"{theirs.get('gpu__time_duration.sum')} / "
                     f"{warm.get('gpu__time_duration.sum')}", None)
            for name in COUNTS + RATES:
                if name not in ours or name not in theirs:
                    self.row(f"{entry}: {name}", f"ours {ours.get(name)}, ncu {theirs.get(name)}",
                             None if name not in theirs else False)
                    continue
                a, b = ours[name], theirs[name]
                limit = COUNT_LIMIT if name in COUNTS else RATE_LIMIT
                share = name.endswith("_active") or name.endswith("_elapsed")
                small = share and abs(a - b) < SMALL
                if name.startswith("launch__waves"):
                    limit = 0.005  # ncu prints two decimals
                difference = abs(a - b) / abs(b) if b else abs(a)
                self.row(f"{entry}: {name}", f"{a:.6g} / {b:.6g} = {a / b - 1 if b else 0:+.3%}",
                         small or difference <= limit)

    # ---------------------------------------------------------------------------------------- cost
    def cost(self):
        for metric_set, limit in (("lean", 0.6), ("overview", 1.0), ("full", None),
                                  ("stalls", None)):
            runs = []
            for _ in range(5):
                counted, seconds = self.driver("count-set", "counter_kernels.so", "saxpy",
                                               metric_set)
                runs.append((seconds - counted.get("inputs_ms", 0) / 1e3,
                             counted.get("spent_ms", 0)))
            runs.sort()
            self.row(f"saxpy: {metric_set}, from process start to answer",
                     f"{runs[2][0]:.2f} s (best {runs[0][0]:.2f}), counting {runs[2][1]:.0f} ms",
                     None if limit is None else runs[2][0] <= limit)
        timed, _ = self.driver("time", "counter_kernels.so", "saxpy")
        self.row("saxpy: cold median", f"{timed.get('median_ns', 0) / 1e3:.2f} us", None)


def main():
    checks = Checks(sys.argv[1], sys.argv[2])
    for part in (checks.record, checks.cost, checks.agree):
        if sys.argv[3:] and part.__name__ not in sys.argv[3:]:
            continue
        try:
            part()
        except (subprocess.TimeoutExpired, KeyError, ValueError, IndexError, OSError) as error:
            checks.row(f"{part.__name__}: the check itself", repr(error)[:200], False)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False).stdout.strip()
    failed = sum(row["verdict"] == "FAIL" for row in checks.rows)
    with open(os.path.join(checks.out, "counters.json"), "w", encoding="utf-8") as file:
        json.dump({"command": "tests/gpu/counters.sh", "date": now, "device": device,
                   "rows": checks.rows}, file, indent=1)
    with open(os.path.join(checks.out, "counters.md"), "w", encoding="utf-8") as file:
        file.write(f"# Counters on a GPU\n\n`tests/gpu/counters.sh`, {device}, {now}. "
                   f"{failed} of {len(checks.rows)} rows failed.\n\n| check | value | verdict |\n"
                   "|---|---|---|\n")
        for row in checks.rows:
            file.write(f"| {row['check']} | {row['value']} | {row['verdict']} |\n")
    print(f"{failed} of {len(checks.rows)} rows failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
