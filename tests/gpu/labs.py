#!/usr/bin/env python3
"""Two GPUs of one host as two labs of one server: how much sooner the branches of an exploration are done than
with one lab, which lab did what, and whether the GPUs' times disturb each other.

    tests/gpu/labs.py RATCHET OUT [--seconds S] [--branches N] [--cold] [--processor]

Explores kernels of examples/gemm_bf16, twice with one lab and twice with both: the first time all is built and
the second lab is off, the second time builds are there and both labs run. Each number of labs has a fresh state
folder, which its labs share; the home's noise is calibrated before. --cold leaves out the second times. Then it
profiles one kernel on each GPU alone and on both at once. First of all it measures how long processes take to
make their contexts, which all GPUs of a host do through one driver. Writes labs-gpu.md and labs-gpu.json into
OUT. Parts that would begin after S seconds (240) are left out, as failed rows. --processor tries the script
without a GPU, with examples/layer_norm_host and a state folder for each lab; both then share the processor, and
times say nothing. Changes no setting of the GPU. The exit status is the number of failed rows.
"""

import argparse
import concurrent.futures
import json
import pathlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests/attacks")]
import drive  # noqa: E402
from client import Server  # noqa: E402
from table import Table  # noqa: E402

GOAL = 0.6
MOST_OFF = 0.02  # of medians of one GPU, as in device_checks.py
PHASES = ("building", "checking", "screening", "confirming")
STAGES = "kStages = 4"
# File, and the constant that a branch changes; all of them fit the shared memory of an H100.
GPU = [("v1_wmma.cu", "", ""), ("v1_mma.cu", "", ""), ("v1_mma_wide.cu", "", ""), ("v2_grouped_order.cu", "", ""),
       ("v1_mma.cu", STAGES, "kStages = 3"), ("v1_mma_wide.cu", STAGES, "kStages = 3"),
       ("v2_grouped_order.cu", "kGroup = 8", "kGroup = 4"), ("v1_mma.cu", STAGES, "kStages = 5"),
       ("v1_mma_wide.cu", STAGES, "kStages = 5"), ("v2_grouped_order.cu", "kGroup = 8", "kGroup = 16"),
       ("v1_wmma.cu", "kPad = 8", "kPad = 16"), ("v1_mma.cu", STAGES, "kStages = 6"),
       ("v2_grouped_order.cu", STAGES, "kStages = 3"), ("v1_mma.cu", STAGES, "kStages = 7"),
       ("v1_mma_wide.cu", STAGES, "kStages = 6"), ("v2_grouped_order.cu", STAGES, "kStages = 5")]
PROCESSOR = [("v1_vectors.cpp", "1e-5f", f"1.0000{number}e-5f") for number in range(1, 17)]


CONTEXT = """
import ctypes
cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
"""


class Client:
    """What drive.Run asks; calls may come from several threads."""

    def __init__(self, command):
        self.server = Server(command)

    def call(self, tool, arguments):
        answer, refused = self.server.call(tool, arguments)
        if refused is not None:
            raise drive.Refused(f"{tool}: {refused}")
        return answer

    def watched(self, tool, arguments):
        """The answer, and what the job said last, whenever that changed, with its time."""
        begin, said = time.monotonic(), []
        answer, refused = self.server.answer(tool, {**arguments, "wait_s": 0})
        while refused is None and isinstance(answer.get("job"), str):
            job = answer["job"]
            state = self.call("run_status", {"job": job})["job"]
            text = state.get("message", "")
            if text and (not said or said[-1][1] != text):
                said.append((round(time.monotonic() - begin, 2), text))
            if state["state"] != "working":
                answer, refused = state.get("answer"), state.get("error")
                if answer is None and refused is None:
                    refused = f"job {state['state']}"
                break
            time.sleep(0.05)
        if refused is not None:
            raise drive.Refused(f"{tool}: {refused}")
        return answer, said


class Run(drive.Run):
    """A plan's run on a lab."""

    def __init__(self, client, plan, folder, output, lab, **more):
        super().__init__(client, plan, folder, output)
        self.more = {**more, "lab": lab, "output_dir": str(output)}

    def begin(self, kernel=None):
        """To the end of v0's profile."""
        arguments = {**self.plan["create_run"], **self.more}
        arguments["kernel"] = {"path": self.path(kernel or arguments["kernel"])}
        arguments["reference"] = {"path": self.path(arguments["reference"])}
        self.run = self.step("create_run", lambda a: f"{a['run']} on {a['device']}", **arguments)["run"]
        self.check({})  # no other kernel to fall back to
        self.profile()

    def ready(self, version):
        """v1 is open and has its methods."""
        self.decide(self.plan["versions"][0], False)
        self.gate()
        self.propose(version)


def phases_of(said, wall):
    """Seconds from the first word of each phase to that of the next."""
    begins = []
    for phase in PHASES:
        at = next((when for when, text in said if text.startswith(phase)), None)
        if at is not None:
            begins.append((phase, at))
    ends = [at for _, at in begins[1:]] + [wall]
    return {phase: round(end - at, 2) for (phase, at), end in zip(begins, ends)}


class Checks(Table):
    def __init__(self, options):
        super().__init__()
        self.options, self.begin = options, time.monotonic()
        self.ratchet = str(options.ratchet.resolve())
        self.examples = ROOT / "examples" / ("layer_norm_host" if options.processor else "gemm_bf16")
        self.plan = json.loads((self.examples / "plan.json").read_text(encoding="utf-8"))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ratchet-two-labs-"))
        self.found = {"explorations": []}

    def late(self, what):
        if time.monotonic() - self.begin < self.options.seconds:
            return False
        self.row(what, f"not done: {self.options.seconds} s are over", False)
        return True

    def gpus(self):
        """What CUDA_VISIBLE_DEVICES calls the two."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")[:2]

    def contexts(self):
        """Processes that are started at once, until each has its context."""
        found = self.found["contexts_s"] = {}
        first, second = self.gpus()
        for name, places in (("1 on one GPU", [first]), ("12 on one GPU", [first] * 12),
                             ("6 on each of two GPUs", [first, second] * 6), ("6 on one GPU", [first] * 6)):
            begin = time.monotonic()
            running = [subprocess.Popen([sys.executable, "-c", CONTEXT],
                                        env={**os.environ, "CUDA_VISIBLE_DEVICES": place}) for place in places]
            good = not any([one.wait() for one in running])
            found[name] = round(time.monotonic() - begin, 2)
            self.row(f"contexts, {name}", f"{found[name]} s", None if good else False)

    def branches(self):
        chosen = (PROCESSOR if self.options.processor else GPU)[:self.options.branches]
        given = []
        for name, old, new in chosen:
            text = (self.examples / name).read_text(encoding="utf-8")
            if old not in text:
                raise drive.Refused(f"{name} has no {old}")
            given.append({"source": text.replace(old, new, 1), "note": f"{name} {new}".strip()})
        return given

    def serve(self, count):
        """A server with so many labs, each with a GPU of its own."""
        place = self.folder / f"labs{count}"
        place.mkdir()
        gpus = ",".join(self.gpus())
        for known in ("noise", "ceilings"):  # of the devices; the second number of labs need not measure them again
            if not self.options.processor and (self.folder / "labs1/far" / known).exists():
                (place / "far").mkdir(mode=0o700, exist_ok=True)
                shutil.copytree(self.folder / "labs1/far" / known, place / "far" / known)
        file = place / "labs.yaml"
        file.write_text(
            "- name: gpu\n"
            f"  command: CUDA_VISIBLE_DEVICES=$(echo {gpus} | cut -d, -f{{n}}) {self.ratchet} --state-dir "
            f"{place}/far{'{n}' * self.options.processor} lab\n  count: {count}\n  idle_s: 900\n", encoding="utf-8")
        return Client([self.ratchet, "serve", "--labs", str(file), "--state-dir", str(place / "server"),
                       "--root", str(self.examples), "--root", str(place)])

    def used(self, client):
        return {one["name"]: one for one in client.call("list_labs", {})["labs"]}

    def explore(self, client, count, builds):
        name = f"{count} lab{'s' * (count > 1)}, {builds}"
        run = Run(client, self.plan, self.examples, self.folder / f"labs{count}" / f"run {builds}", "gpu-1",
                  branches=16)
        run.begin()
        if builds == "cold":  # once for a device; `explore_branches` would do it at the first comparison
            start = time.monotonic()
            client.call("measure_ceilings", {"lab": "gpu-1"})
            self.row(f"{name}: ceilings and noise of gpu-1, before", f"{time.monotonic() - start:.2f} s", None)
        run.ready(self.plan["versions"][1])
        before = self.used(client)
        start = time.monotonic()
        answer, said = client.watched("explore_branches", {"run": run.run, "branches": self.branches()})
        wall = time.monotonic() - start
        after = self.used(client)
        labs = {lab: {"branches": [one["name"] for one in answer["branches"] if one.get("lab") == lab],
                      "used_s": round(state["used"] - before[lab]["used"], 2),
                      "differs": state.get("differs")} for lab, state in after.items()}
        fact = {"labs": count, "builds": builds, "wall_s": round(wall, 2), "phases_s": phases_of(said, wall),
                "by_lab": labs, "branches": answer["branches"], "decision": answer["decision"], "said": said,
                "begun_s": {tool: round(seconds, 2) for _, tool, seconds in run.steps}}
        self.found["explorations"].append(fact)
        self.row(f"{name}: {len(answer['branches'])} branches", f"{wall:.2f} s; {fact['phases_s']}; "
                 + "; ".join(f"{lab} {len(one['branches'])} branches, {one['used_s']} s" for lab, one in labs.items()),
                 None)
        states = [one["status"] for one in answer["branches"]]
        self.row(f"{name}: all branches work", answer["decision"] + f" {[s for s in states if s not in ('frontier', 'champion')]}",
                 set(states) <= {"frontier", "champion"})
        if count > 1:
            self.row(f"{name}: both labs are alike and did some", {lab: one["differs"] or "alike" for lab, one in labs.items()},
                     all(one["branches"] and not one["differs"] for one in labs.values()))
        return fact

    def compare(self):
        """Wall times of two labs against one, and the decisions."""
        by = {(one["labs"], one["builds"]): one for one in self.found["explorations"]}
        for builds in ("cold", "warm"):
            if (1, builds) not in by or (2, builds) not in by:
                continue
            one, two = by[1, builds], by[2, builds]
            ratio = two["wall_s"] / one["wall_s"]
            self.found[f"ratio_{builds}"] = round(ratio, 3)
            self.row(f"two labs against one, {builds}", f"{two['wall_s']} s / {one['wall_s']} s = {ratio:.2f} (goal {GOAL})",
                     None if self.options.processor else ratio <= GOAL)

    def medians(self, client):
        """One kernel on both GPUs, alone and at once."""
        kernel = "v1_vectors.cpp" if self.options.processor else "v1_mma.cu"
        runs = {}
        for lab in ("gpu-1", "gpu-2"):
            runs[lab] = Run(client, self.plan, self.examples, self.folder / "labs2" / f"median {lab}", lab, any_size=False)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda run: run.begin(kernel), runs.values()))
            alone = [self.profiled(client, run) for run in runs.values()]
            both = list(pool.map(lambda run: self.profiled(client, run), runs.values()))
        overlap = min(end for _, _, end in both) - max(start for _, start, _ in both)
        shortest = min(end - start for _, start, end in both)
        self.row("both GPUs measure at once", f"{overlap:.2f} s of {shortest:.2f} s", overlap > 0.5 * shortest)
        for lab, (before, _, _), (after, _, _) in zip(runs, alone, both):
            off = after["median_ns"] / before["median_ns"] - 1
            self.found.setdefault("medians", {})[lab] = {"alone": before, "together": after}
            self.row(f"{kernel} on {lab}: alone and beside the other", f"{before['median_ns'] / 1e3:.2f} us, "
                     f"{after['median_ns'] / 1e3:.2f} us, {off:+.2%}, {after['flags']}",
                     None if self.options.processor else abs(off) < MOST_OFF and "device_shared" not in after["flags"])
        off = alone[1][0]["median_ns"] / alone[0][0]["median_ns"] - 1
        self.row(f"{kernel}: gpu-2 against gpu-1, each alone", f"{off:+.2%}", None)

    @staticmethod
    def profiled(client, run):
        start = time.monotonic()
        timing = client.call("profile_kernel", {"run": run.run, "metrics": "lean", "wait_s": 120})["timing"]
        return {name: timing.get(name) for name in ("median_ns", "ci_low_ns", "ci_high_ns", "flags", "conditions")}, \
            start, time.monotonic()

    def play(self):
        if not self.options.processor:
            self.contexts()
        for count in (1, 2):
            if self.late(f"{count} labs"):
                continue
            client = self.serve(count)
            for builds in ("cold", "warm")[:1 if self.options.cold else 2]:
                if not self.late(f"{count} labs, {builds}"):
                    self.explore(client, count, builds)
            if count == 2:
                self.compare()
                if not self.late("medians"):
                    self.medians(client)
                self.found["list_labs"] = list(self.used(client).values())
            client.server.process.stdin.close()
            client.server.process.wait(timeout=30)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratchet", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--branches", type=int, default=12, choices=range(4, 17))
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--processor", action="store_true")
    options = parser.parse_args()
    checks = Checks(options)
    try:
        checks.play()
    except (drive.Refused, RuntimeError, KeyError, OSError) as error:
        checks.row("the check itself", repr(error)[:1500], False)
    checks.found["wall_s"] = round(time.monotonic() - checks.begin, 1)
    checks.row("all of it", f"{checks.found['wall_s']} s", None)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "labs-gpu.json").write_text(json.dumps(checks.found, indent=1), encoding="utf-8")
    return checks.write(str(options.out), "labs-gpu.md", "Two labs on two GPUs", "tests/gpu/labs.py")


if __name__ == "__main__":
    sys.exit(main())
