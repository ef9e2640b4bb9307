"""Nsight Compute as an engine, imported reports, samples by source line and the machine code of Triton
kernels, on a machine with a GPU, through the server as a client sees it.

    ncu_checks.py RATCHET DRIVER OUT

RATCHET is the program, DRIVER the folder with gpu-driver and counter_kernels.so (see counters.sh). A
table goes to OUT/ncu.md. Needs ncu, and torch and Triton for the python3 in PATH. Changes no setting
of the GPU.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from python_checks import Client
from table import Table

EXACT = ["smsp__inst_executed.sum", "launch__grid_size", "launch__registers_per_thread"]
CLOSE = ["gpu__time_duration.sum", "sm__warps_active.avg.pct_of_peak_sustained_active"]


class Checks(Table):
    def __init__(self, ratchet, driver, out):
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.driver_folder, self.out = driver, out
        self.client = Client(ratchet, self.folder)

    def call(self, tool, **arguments):
        answer, seconds = self.client.call(tool, **arguments)
        if "refused" in answer:
            self.row(f"{tool} answers", answer["refused"][:600], False)
        return answer, seconds

    def start(self, implementation):
        created, _ = self.call("create_run", problem="softmax", implementation=implementation,
                               output_dir=f"{self.folder}/{implementation}")
        run = created.get("run")
        if run:
            checked, _ = self.call("check_correctness", run=run)
            self.row(f"{implementation}: softmax is correct", checked.get("passed"),
                     checked.get("passed") is True)
        return run

    def profile(self, what, run, **arguments):
        profile, seconds = self.call("profile_kernel", run=run, **arguments)
        kernels = profile.get("kernels") or []
        self.row(f"{what}: profile",
                 f"{seconds:.2f} s, engine {profile.get('engine')}, degraded "
                 f"{profile.get('degraded_reason', profile.get('degraded'))}, "
                 f"{[(k['name'], len(k['metrics'])) for k in kernels]}, bound "
                 f"{profile.get('bound')}, unknown {profile.get('unknown_metrics')}",
                 profile.get("degraded") is False and bool(kernels))
        return profile

    def agree(self, what, ours, theirs):
        if not ours.get("kernels") or not theirs.get("kernels"):
            return
        a, b = ours["kernels"][0]["metrics"], theirs["kernels"][0]["metrics"]
        self.row(f"{what}: both engines name the kernel alike",
                 f"{ours['kernels'][0]['name']} / {theirs['kernels'][0]['name']}",
                 ours["kernels"][0]["name"] == theirs["kernels"][0]["name"])
        for name in EXACT + CLOSE:
            x, y = a.get(name), b.get(name)
            near = x is not None and y is not None and abs(x - y) <= abs(y) * (
                0.001 if name in EXACT else 0.1)
            self.row(f"{what}: {name}, cupti / ncu", f"{x} / {y}", near)

    def hotspots(self, what, profile):
        spots = profile.get("hotspots") or {}
        places = spots.get("places") or []
        self.row(f"{what}: samples by line",
                 f"{spots.get('samples')} samples, {spots.get('dropped')} dropped, one per "
                 f"{spots.get('period_cycles')} cycles, degraded {spots.get('degraded_reason')}; "
                 + "; ".join(f"L{p.get('line')} {p['share']:.0%} {p['instruction'][:40]} "
                             f"{max(p['stalls'], key=p['stalls'].get) if p['stalls'] else ''}"
                             for p in places[:5]), bool(places) and places[0].get("line") is not None)

    def import_reports(self, run, output):
        report = f"{output}/v0/profile.ncu-rep"
        if not os.path.exists(report):
            self.row("the report is among the artifacts", report, False)
            return
        self.row("the report is among the artifacts", f"{os.path.getsize(report)} bytes", True)
        own, seconds = self.call("import_profile", run=run, path=report)
        self.row("import of our own report", f"{seconds:.2f} s, {own.get('binding')}: "
                 f"{own.get('binding_reason')}, {len(own.get('launches', []))} launches",
                 own.get("binding") == "own_report")
        raw = f"{self.folder}/raw.csv"
        with open(raw, "w", encoding="utf-8") as file:
            subprocess.run(["ncu", "--import", report, "--csv", "--page", "raw"], stdout=file,
                           check=False)
        table, _ = self.call("import_profile", run=run, path=raw)
        self.row("import of its table with scaled units",
                 f"{table.get('binding')}, {len(table.get('launches', []))} launches",
                 table.get("binding") == "unbound" and bool(table.get("launches")))
        if own.get("launches") and table.get("launches"):
            a, b = (one["launches"][0].get("duration_ns", 0) for one in (own, table))
            self.row("scaled and base units give one value", f"{a} / {b}",
                     bool(a) and abs(a - b) < 0.01 * a)
        damaged = f"{self.folder}/damaged.ncu-rep"
        with open(report, "rb") as source, open(damaged, "wb") as file:
            file.write(source.read()[:5000])
        refused, _ = self.client.call("import_profile", run=run, path=damaged)
        self.row("a damaged report is refused", refused.get("refused"), "refused" in refused)
        other = f"{self.folder}/other.ncu-rep"
        subprocess.run(["ncu", "--clock-control", "none", "--launch-count", "1", "-f", "--export",
                        other, f"{self.driver_folder}/gpu-driver", "run",
                        f"{self.driver_folder}/counter_kernels.so", "saxpy"],
                       capture_output=True, check=False, timeout=60)
        foreign, _ = self.call("import_profile", run=run, path=other)
        self.row("a report of another binary", f"{foreign.get('binding')}: "
                 f"{foreign.get('binding_reason')}", foreign.get("binding") == "unbound")

    def cuda(self):
        run = self.start("cuda-cpp")
        if not run:
            return
        stalls = self.profile("cuda-cpp, stalls", run, metrics="stalls")
        self.hotspots("cuda-cpp", stalls)
        ours = self.profile("cuda-cpp, overview", run)
        theirs = self.profile("cuda-cpp, overview by ncu", run, engine="ncu")
        self.row("cuda-cpp: exceptions for ncu", theirs.get("exceptions"),
                 bool(theirs.get("exceptions")))
        self.agree("cuda-cpp", ours, theirs)
        self.import_reports(run, f"{self.folder}/cuda-cpp")

    def triton(self):
        run = self.start("triton")
        if not run:
            return
        checked, seconds = self.call("check_sass", run=run)
        self.row("triton: check_sass", f"{seconds:.2f} s, {checked.get('disassembler')}, "
                 f"{checked.get('unavailable')}, "
                 f"{ {m['id']: m['verdict'] for m in checked.get('methods', [])} }",
                 bool(checked.get("methods")))
        ours = self.profile("triton, stalls", run, metrics="stalls")
        self.hotspots("triton", ours)
        ours = self.profile("triton, overview", run)
        theirs = self.profile("triton, overview by ncu", run, engine="ncu")
        self.agree("triton", ours, theirs)


def main():
    checks = Checks(*sys.argv[1:4])
    for part in (checks.cuda, checks.triton):
        try:
            part()
        except (RuntimeError, KeyError, OSError, subprocess.TimeoutExpired) as error:
            checks.row(f"{part.__name__}: the check itself", repr(error)[:300], False)
    failed = checks.write(checks.out, "ncu.md",
                          "Nsight Compute, samples and Triton's machine code on a GPU",
                          "tests/gpu/ncu_checks.py")
    for name in ("cuda-cpp", "triton"):
        digest = f"{checks.folder}/{name}/v0/digest.md"
        if os.path.exists(digest):
            shutil.copy(digest, f"{checks.out}/ncu-digest-{name}.md")
    with open(os.path.join(checks.folder, "server.log"), encoding="utf-8") as log:
        print("".join(log.readlines()[-10:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
