"""Runs gpu-driver step by step and checks its results. Called by run.sh.

    checks.py FOLDER OUT [PART...]      FOLDER holds gpu-driver and the kernels' libraries
"""

import csv
import datetime
import json
import os
import shutil
import subprocess
import sys
import time

ELEMENTS = 4096 * 4096
MOVED_BYTES = 2 * 4 * ELEMENTS  # each element read once and written once
CLOCK_STEP_NS = 257
TOLERANCE = 0.02  # for durations and counts, against CUPTI and ncu

COMPARED = ["gpu__time_duration.sum", "dram__bytes.sum", "dram__bytes_read.sum",
            "dram__bytes_write.sum", "smsp__inst_executed.sum", "sm__cycles_elapsed.max"]

SHORT_TOLERANCE = 0.05
COMPARED_SETS = ("lean", "overview")
PARTS = ("judges", "timing", "flags", "counters", "hard_to_count", "sandbox", "ceilings",
         "faults")
REPEATS = 5  # one launch's duration varies by 2 to 3 %


def medians(tables):
    """The median of every metric that all tables contain."""
    names = set(tables[0]).intersection(*tables[1:])
    return {name: sorted(table[name] for table in tables)[len(tables) // 2] for name in names}


class Checks:
    def __init__(self, folder):
        self.driver = os.path.join(folder, "gpu-driver")
        self.kernels = os.path.join(folder, "gpu_kernels.so")
        self.rows = []
        self.ncu_values = {}

    def step(self, what, *arguments, sandbox=None, limit=60):
        """The step's JSON and its duration in seconds."""
        environment = dict(os.environ)
        if sandbox:
            environment["RATCHET_SANDBOX"] = sandbox
        start = time.monotonic()
        done = subprocess.run([self.driver, what, *arguments], capture_output=True, text=True,
                              timeout=limit, env=environment, check=False)
        seconds = time.monotonic() - start
        try:
            reply = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            reply = {"error": f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}"}
        return reply, seconds

    def kernel(self, what, entry, *arguments, **options):
        reply, seconds = self.step(what, self.kernels, entry, *arguments, **options)
        result = reply.get("result") or {}
        if "error" in reply:
            result = {"error": reply["error"]}
        return result, seconds

    def row(self, name, value, passed):
        self.rows.append({"check": name, "value": value,
                          "verdict": {True: "pass", False: "FAIL", None: "info"}[passed]})
        print(f"{self.rows[-1]['verdict']:5} {name}: {value}", flush=True)

    # ------------------------------------------------------------------------------------- timing
    def timing(self):
        overhead, _ = self.step("overhead")
        self.row("empty event pair, subtracted from samples", f"{overhead.get('overhead_ns')} ns",
                 None)
        for entry in ("large_copy", "copy", "softmax", "small_copy", "two_kernels"):
            timed, _ = self.kernel("time", entry)
            spans, _ = self.kernel("spans", entry)
            if "error" in timed or "span_ns" not in spans:
                self.row(f"{entry}: time", str(timed)[:200] + str(spans)[:200], False)
                continue
            median, span = timed["median_ns"], spans["span_ns"]
            moved = {"large_copy": 8 * MOVED_BYTES, "copy": MOVED_BYTES, "softmax": MOVED_BYTES}
            rate = f", {moved[entry] / median:.0f} GB/s" if entry in moved else ""
            self.row(f"{entry}: cold median of {timed['samples']}",
                     f"{median / 1e3:.2f} us{rate}, clock {timed['clock_mhz']:.0f} MHz "
                     f"({timed['clocks']} of {timed['samples']}), flags {timed['flags']}",
                     timed["flags"] == [] and timed["clocks"] == timed["samples"])
            # The device's clock ticks in steps of 256 ns on the H200s tested, and the gap between two
            # launches differs between processes.
            off = max(TOLERANCE * span, 5000 if entry == "two_kernels" else CLOCK_STEP_NS)
            judged = abs(median - span) <= off
            self.row(f"{entry}: time against CUPTI's span in another process",
                     f"{median / 1e3:.2f} / {span / 1e3:.2f} us = {(median - span) / 1e3:+.2f} us, "
                     f"{median / span - 1:+.2%}", judged)
        hot, _ = self.kernel("time-hot", "small_copy")
        cold, _ = self.kernel("time", "small_copy")
        self.row("1 MiB copy: hot against cold",
                 f"{hot.get('median_ns', 0) / 1e3:.2f} / {cold.get('median_ns', 0) / 1e3:.2f} us",
                 0 < hot.get("median_ns", 0) < cold.get("median_ns", 0))
        host, _ = self.kernel("time-host", "copy")
        self.row("copy: host time", f"{host.get('median_ns', 0) / 1e3:.2f} us", None)

    def flags(self):
        for entry, flag in (("synchronizing", "launch_gap_included"),
                            ("hidden_stream", "unsynchronised_work")):
            timed, _ = self.kernel("time", entry)
            self.row(f"{entry} is flagged {flag}",
                     f"{timed.get('flags', timed)}, {timed.get('median_ns', 0) / 1e3:.2f} us",
                     flag in timed.get("flags", []))

    # ------------------------------------------------------------------------------------- faults
    def faults(self):
        for entry, error in (("illegal_address", "cudaErrorIllegalAddress"),
                             ("trap", "cudaErrorLaunchFailure"),
                             ("refused_launch", "cudaErrorInvalid")):
            for what in ("run", "time", "count"):
                result, _ = self.kernel(what, entry)
                message = str((result.get("fault") or {}).get("message", result))
                self.row(f"{entry} in {what} is a fault", message[:80], error in message)
        start = time.monotonic()
        try:
            self.kernel("run", "endless", limit=5)
            killed = False
        except subprocess.TimeoutExpired:
            killed = True
        gone = time.monotonic() - start
        after, seconds = self.kernel("run", "copy")
        self.row("endless kernel killed at its 5 s deadline, device usable after",
                 f"gone after {gone:.1f} s, next process {seconds:.1f} s: {after}",
                 killed and gone < 15 and after == {"fault": None})

    # --------------------------------------------------------------------------- hard to count
    def hard_to_count(self):
        """Calls that cannot be counted report why and what to do; launches that cannot be separated
        are counted as one."""
        for entry, words in (("no_launch", "launches no kernel"),
                             ("changing", "differ from call to call")):
            said = str(self.kernel("count-set", entry, "lean")[0].get("unavailable"))
            self.row(f"{entry}: counters", said, words in said)
        self.counted_together("thousands", 2000, "at most 1024")
        self.counted_together("waiting", 3, "several streams")
        graph = self.counted_together("graph", 2, "CUDA graph")
        apart, _ = self.kernel("count-set", "two_kernels", "lean")
        self.same_as_parts("graph against its two kernels apart", graph, apart)
        library = os.path.join(os.path.dirname(self.kernels), "nested_kernels.so")
        nested, child = (self.step("count-set", library, entry, "lean")[0].get("result") or {}
                         for entry in ("nested", "child"))
        # The device starts children slowly under a profiler: their time is not judged.
        self.same_as_parts("kernel launched by a kernel against the same from the host", nested,
                           child, judge_time=False)
        self.held()

    def counted_together(self, entry, launches, words):
        result, seconds = self.kernel("count-set", entry, "lean")
        kernels = result.get("kernels") or []
        counted = [k["name"] for k in kernels if "gpu__time_duration.sum" in k["metrics"]]
        self.row(f"{entry}: counters",
                 f"{counted}, {result.get('together')}, {result.get('unavailable')}, "
                 f"{result.get('fault')}, {seconds:.2f} s",
                 counted == [f"whole call ({launches} launches)"]
                 and words in str(result.get("together")))
        return result

    def same_as_parts(self, what, whole, parts, judge_time=True):
        """Compares counts of the whole with the sum over its parts."""
        for name in ("smsp__inst_executed.sum", "dram__bytes.sum", "gpu__time_duration.sum"):
            total, sum_of_parts = (
                sum(k["metrics"].get(name, 0) for k in result.get("kernels") or [])
                for result in (whole, parts))
            off = total / sum_of_parts - 1 if sum_of_parts else float("nan")
            judged = abs(off) < 0.05 if judge_time or "time" not in name else None
            self.row(f"{what}: {name}", f"{total:.0f} / {sum_of_parts:.0f} = {off:+.2%}", judged)

    def held(self):
        """Counters that another process uses for seconds."""
        holder = subprocess.Popen([self.driver, "count-set", self.kernels, "holding", "lean"],
                                  stdout=subprocess.PIPE, text=True)
        said = []
        time.sleep(1.5)
        while holder.poll() is None and len(said) < 20:
            result, _ = self.kernel("count-set", "copy", "lean")
            said.append(str(result.get("unavailable")))
        other = json.loads(holder.communicate(timeout=60)[0])["result"]
        first = (other.get("kernels") or [{"metrics": {}}])[0]["metrics"]
        refused = [text for text in said if text != "None"]
        self.row("counters held by another process",
                 f"{len(refused)} of {len(said)} refused: {refused[:1]}; the other's: "
                 f"{len(first)} metrics, {other.get('unavailable')}",
                 bool(refused) and all("another profiler" in text for text in refused)
                 and len(first) > 10)

    # ----------------------------------------------------------------------------------- counters
    def counters(self):
        found = {}
        for name in ("lean", "overview", "full", "stalls"):
            repeats = REPEATS if name in COMPARED_SETS else 1
            runs = [self.kernel("count-set", "softmax", name) for _ in range(repeats)]
            result, _ = runs[0]
            metrics = [m for m in result.get("asked", ["none asked"])
                       if m not in result.get("unknown_metrics", [])]
            kernels = result.get("kernels") or [{"name": "", "metrics": {}}]
            found[name] = medians([(run.get("kernels") or kernels)[0]["metrics"]
                                   for run, _ in runs])
            missing = [m for m in metrics if m not in found[name]]
            self.row(f"softmax: {name} counters",
                     f"{len(metrics) - len(missing)} of {len(metrics)} in "
                     f"{result.get('spent_ms', 0):.0f} ms, engine {result.get('engine')}, cache {result.get('cache')}, unknown "
                     f"{result.get('unknown_metrics')}, missing {missing[:3]}, "
                     f"{result.get('unavailable', '')}{result.get('error', '')}",
                     result.get("engine") == "cupti" and not missing
                     and kernels[0]["name"].endswith("softmax_kernel"))
        for metric_set, metrics in found.items():
            if metric_set in COMPARED_SETS:
                self.against_ncu("softmax", metric_set, metrics)
        for entry in ("softmax", "large_copy"):
            runs = [self.kernel("count", entry, *COMPARED)[0] for _ in range(REPEATS)]
            self.against_ncu(entry, "given", medians(
                [(run.get("kernels") or [{"metrics": {}}])[0]["metrics"] for run in runs]))
        two, _ = self.kernel("count-set", "two_kernels", "lean")
        self.row("two kernels are counted apart",
                 str([k["name"] for k in two.get("kernels", [])]),
                 len(two.get("kernels", [])) == 2
                 and all("gpu__time_duration.sum" in k["metrics"] for k in two["kernels"]))
        bogus, _ = self.kernel("count", "softmax", "gpu__time_duration.sum", "no__such.sum",
                               "dram__bytes_read.wrong")
        self.row("unknown metrics are named", str(bogus.get("unknown_metrics")),
                 sorted(bogus.get("unknown_metrics", []))
                 == ["dram__bytes_read.wrong", "no__such.sum"])

    def ncu(self, entry):
        """Median over the launches of one ncu run, by metric name; empty without ncu."""
        if entry not in self.ncu_values:
            self.ncu_values[entry] = {}
            if shutil.which("ncu"):
                done = subprocess.run(
                    ["ncu", "--clock-control", "none", "--cache-control", "all", "--csv", "--page",
                     "raw", "--print-units", "base", "--metrics", ",".join(COMPARED), self.driver,
                     "run", self.kernels, entry],
                    capture_output=True, text=True, timeout=120, check=False)
                lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
                columns = {}
                for row in list(csv.DictReader(lines))[1:]:  # the first row holds the units
                    for name, text in row.items():
                        try:
                            columns.setdefault(name, []).append(float(text.replace(",", "")))
                        except (ValueError, AttributeError):
                            pass
                self.ncu_values[entry] = {name: sorted(values)[len(values) // 2]
                                          for name, values in columns.items() if values}
        return self.ncu_values[entry]

    def against_ncu(self, entry, metric_set, ours):
        theirs = self.ncu(entry)
        if not theirs:
            self.row("counters against ncu", "ncu is not installed or gave nothing", None)
            return
        for name in (name for name in COMPARED if name in ours):
            # A launch of 31 us varies by 3 % from one to the next, under either tool.
            timed = name in ("gpu__time_duration.sum", "sm__cycles_elapsed.max")
            limit = SHORT_TOLERANCE if timed and entry == "softmax" else TOLERANCE
            difference = ours[name] / theirs[name] - 1 if theirs.get(name) else float("nan")
            self.row(f"{entry}: {name} ({metric_set}) against ncu",
                     f"{ours[name]:.0f} / {theirs.get(name, 0):.0f} = {difference:+.2%}",
                     abs(difference) <= limit)
        if metric_set != "lean":
            return
        for name in sorted(ours):
            if name.startswith(("launch__", "sm__maximum")) and name in theirs:
                self.row(f"{entry}: {name} against ncu", f"{ours[name]:g} / {theirs[name]:g}",
                         abs(ours[name] - theirs[name]) <= 0.01 * abs(theirs[name]))

    # -------------------------------------------------------------------------------------- other
    def sandbox(self):
        for role, what in (("candidate", "time"), ("counter", "count-set")):
            metrics = ["lean"] if what == "count-set" else []
            reply, _ = self.step(what, self.kernels, "softmax", *metrics, sandbox=role)
            result = reply.get("result") or {}
            good = result.get("median_ns", 0) > 0 if what == "time" else (
                result.get("engine") == "cupti"
                and any("dram__bytes.sum" in k["metrics"] for k in result.get("kernels", [])))
            self.row(f"{what} inside the {role} sandbox",
                     f"{reply.get('sandbox')}; {result.get('unavailable', '')}"
                     f"{reply.get('error', '')}", good)
            opens = reply.get("opens") or []
            foreign = [name for name in opens if not name.startswith(
                ("/dev/nvidia", "/dev/shm/", "/dev/dxg"))
                and name not in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                                 "/dev/stdin")]  # a link to its own input, which is /dev/null
            self.row(f"the {role} sandbox opens devices of the GPU alone", ", ".join(opens),
                     bool(opens) and not foreign)

    def judges(self):
        """The judge on the GPU must agree with compare.cpp for every type."""
        library = os.path.join(os.path.dirname(self.driver), "judge.so")
        reply, _ = self.step("judge", library, "ratchet_judge")
        rows = reply.get("result") or []
        for row in rows:
            if row["differs"]:
                self.row(f"judges disagree: {row['case']}", str(row["differs"])[:200], False)
        agreed = sum(not row["differs"] for row in rows)
        failing = sum(not row["passed"] for row in rows)
        self.row("verdicts of the judge on the GPU and of compare.cpp agree",
                 f"{agreed} of {len(rows)}, {failing} of them failing "
                 f"{reply.get('error', '')}", bool(rows) and agreed == len(rows))

    def ceilings(self):
        reply, seconds = self.step("ceilings")
        for roof in reply.get("result") or []:
            self.row(f"ceiling {roof['what']}", f"{roof['value'] / 1e12:.3f} T{roof['unit']}",
                     roof["value"] > 0)
        self.row("ceilings", f"{seconds:.1f} s {reply.get('error', '')}", "error" not in reply)


def main():
    folder, out = sys.argv[1], sys.argv[2]
    checks = Checks(folder)
    info, _ = checks.step("info")
    device = info.get("device", info)
    for part in sys.argv[3:] or PARTS:
        try:
            getattr(checks, part)()
        except (subprocess.TimeoutExpired, KeyError, ValueError, IndexError, OSError) as error:
            checks.row(f"{part}: the check itself", repr(error)[:200], False)
    failed = sum(row["verdict"] == "FAIL" for row in checks.rows)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    with open(os.path.join(out, "results.json"), "w", encoding="utf-8") as file:
        json.dump({"command": "tests/gpu/run.sh", "date": now, "device": device,
                   "rows": checks.rows}, file, indent=1)
    lines = [f"# GPU checks\n\nCommand: `tests/gpu/run.sh`. Device: {device.get('name')}, "
             f"{device.get('arch')}, driver {device.get('driver')}. Date: {now}. Clocks as found.\n",
             "| check | value | verdict |", "|---|---|---|"]
    lines += [f"| {r['check']} | {r['value']} | {r['verdict']} |" for r in checks.rows]
    with open(os.path.join(out, "results.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(f"\n{len(checks.rows)} rows, {failed} failed; device {device.get('name')}; {now}")
    for row in checks.rows:
        if row["verdict"] == "FAIL":
            print(f"FAIL {row['check']}: {row['value']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
