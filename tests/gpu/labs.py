#!/usr/bin/env python3
"""Two GPUs of one host as two labs of one server: how much sooner the branches of an exploration are done than
with one lab, which lab did what, and whether the GPUs' times disturb each other.

    tests/gpu/labs.py RATCHET OUT [--seconds S] [--branches N] [--turns N] [--from KERNEL] [--no-medians] [--contexts]
                      [--processor]

Explores kernels of examples/gemm_bf16 with both labs and then with each of them alone, in --turns turns. What a check
takes depends on the hidden sizes, which a run's seed and its lab's name decide: all explorations of a turn have one seed,
and both labs are held against the mean of each alone. The goal is for the median of the turns. All labs are up and all is
built: the builds are made by an exploration that is canceled, in a state folder that all labs share. Before, a kernel is
timed on each GPU alone and beside the other, in turns, while that one times the same kernel again and again. Writes
labs-gpu.md and labs-gpu.json into OUT after every row, so that a cut loses nothing. Parts that would begin after S seconds
(140) are left out, as failed rows. --from: the version that branches are compared with, of the example's files; its own
v0 takes most of a race's time. --no-medians leaves out how the GPUs' times are beside each other. --contexts first
measures how long processes take to make their contexts, which all GPUs of a host do through one driver. --processor
tries the script without a GPU, with examples/layer_norm_host and a state folder for each lab; both then share the
processor, and times say nothing. Changes no setting of the GPU. The exit status is the number of failed rows.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests/attacks")]
import drive  # noqa: E402
from client import Server  # noqa: E402
from table import Table  # noqa: E402

GOAL = 0.6
BOTH = (1, 2)
LEAST_NOISE = 0.005  # as in kernels/timing/statistics.h
TURNS = 3
PHASES = ("building", "checking", "screening", "confirming")
STAGES = "kStages = 4"
# File, and the constant that a branch changes; all of them fit the shared memory of an H100.
GPU = [("v1_wmma.cu", "", ""), ("v1_mma.cu", STAGES, "kStages = 2"), ("v1_mma_wide.cu", "", ""),
       ("v2_grouped_order.cu", "", ""), ("v1_mma.cu", STAGES, "kStages = 3"), ("v1_mma_wide.cu", STAGES, "kStages = 3"),
       ("v2_grouped_order.cu", "kGroup = 8", "kGroup = 4"), ("v1_mma.cu", STAGES, "kStages = 5"),
       ("v1_mma_wide.cu", STAGES, "kStages = 5"), ("v2_grouped_order.cu", "kGroup = 8", "kGroup = 16"),
       ("v1_wmma.cu", "kPad = 8", "kPad = 16"), ("v1_mma.cu", STAGES, "kStages = 6"),
       ("v2_grouped_order.cu", STAGES, "kStages = 3"), ("v1_mma.cu", STAGES, "kStages = 7"),
       ("v1_mma_wide.cu", STAGES, "kStages = 6"), ("v2_grouped_order.cu", STAGES, "kStages = 5")]
PROCESSOR = [("v1_vectors.cpp", "1e-5f", f"1.{number:07}e-5f") for number in range(1, 17)]  # a rounding apart


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

    def begun(self, tool, arguments):
        """A call that goes on as this job."""
        answer, refused = self.server.answer(tool, {**arguments, "wait_s": 0})
        if refused is not None:
            raise drive.Refused(f"{tool}: {refused}")
        return answer["job"]

    def state(self, job):
        return self.call("run_status", {"job": job})["job"]

    def close(self):
        self.server.process.stdin.close()
        self.server.process.wait(timeout=30)

    def watched(self, tool, arguments):
        """The answer, and what the job said last, whenever that changed, with its time."""
        begin, said = time.monotonic(), []
        answer, refused = self.server.answer(tool, {**arguments, "wait_s": 0})
        while refused is None and isinstance(answer.get("job"), str):
            job = answer["job"]
            state = self.state(job)
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


def served(ratchet, place, *roots):
    """A server whose state is in this folder, and which reads there and in the roots."""
    command = [ratchet, "serve", "--state-dir", os.path.join(place, "state")]
    for root in (place, *roots):
        command += ["--root", str(root)]
    return Client(command)


@contextlib.contextmanager
def asked(table, ratchet, *roots):
    """A server, and the folder that its state is in; both end with it. What it refuses is a failed row."""
    with tempfile.TemporaryDirectory() as place:
        client = served(ratchet, place, *roots)
        try:
            yield client, pathlib.Path(place)
        except drive.Refused as refused:
            table.row("the check itself", refused, False)
        client.close()


def variant(folder, name, old, new):
    """The text of a kernel with one constant changed."""
    text = (folder / name).read_text(encoding="utf-8")
    if old not in text:
        raise drive.Refused(f"{name} has no {old}")
    return text.replace(old, new, 1)


class Busy:
    """Does something again and again while it is entered, once at least; `times`."""

    def __init__(self, work):
        self.work, self.times, self.ended = work, 0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()
        return self

    def go_on(self):
        while not self.ended.is_set():
            self.work()
            self.times += 1

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Run(drive.Run):
    """A plan's run on a lab."""

    def __init__(self, client, plan, folder, output, lab, **more):
        super().__init__(client, plan, folder, output)
        self.more = {**more, "lab": lab, "output_dir": str(output)}

    def begin(self, kernel=None):
        """To the end of v0's profile."""
        arguments = {**self.plan["create_run"], **self.more}
        self.kernel_name = kernel or arguments["kernel"]
        arguments["kernel"] = {"path": self.path(self.kernel_name)}
        arguments["reference"] = {"path": self.path(arguments["reference"])}
        self.run = self.step("create_run", lambda a: f"{a['run']} on {a['device']}", **arguments)["run"]
        self.check({})  # no other kernel to fall back to
        self.profile()

    def ready(self, version):
        """v1 is open and has its methods."""
        self.decide(self.plan["versions"][0], False)
        self.gate()
        self.propose(version)


def named(labs):
    return "both labs" if labs == BOTH else f"gpu-{labs[0]} alone"


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
        options.out.mkdir(parents=True, exist_ok=True)

    def row(self, name, value, passed):
        super().row(name, value, passed)
        self.save()

    def save(self):
        """All that is known; the number of failed rows."""
        self.found["wall_s"] = round(time.monotonic() - self.begin, 1)
        (self.options.out / "labs-gpu.json").write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        return self.write(str(self.options.out), "labs-gpu.md", "Two labs on two GPUs", "tests/gpu/labs.py")

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
        return [{"source": variant(self.examples, name, old, new), "note": f"{name} {new}".strip()}
                for name, old, new in chosen]

    def place(self, labs, turn):
        return self.folder / f"labs{''.join(map(str, labs))}-{turn}"

    def serve(self, labs, turn):
        """A server with these labs, each with the GPU of its number; the labs' state is that of all servers."""
        place = self.place(labs, turn)
        place.mkdir()
        gpus = ",".join(self.gpus())
        name, number, count = ("gpu", "{n}", "  count: 2\n") if labs == BOTH else (f"gpu-{labs[0]}", labs[0], "")
        file = place / "labs.yaml"
        file.write_text(
            f"- name: {name}\n"
            f"  command: CUDA_VISIBLE_DEVICES=$(echo {gpus} | cut -d, -f{number}) {self.ratchet} --state-dir "
            f"{self.folder}/far{str(number) * self.options.processor} lab\n{count}  idle_s: 900\n",
            encoding="utf-8")
        return Client([self.ratchet, "serve", "--labs", str(file), "--state-dir", str(place / "server"),
                       "--root", str(self.examples), "--root", str(place)])

    def used(self, client):
        return {one["name"]: one for one in client.call("list_labs", {})["labs"]}

    def opened(self, client, labs, turn):
        """A run whose v1 takes branches."""
        home = f"gpu-{labs[0]}"
        run = Run(client, self.plan, self.examples, self.place(labs, turn) / "run", home, branches=16, seed=turn)
        run.begin(self.options.kernel)
        start = time.monotonic()
        client.call("measure_ceilings", {"lab": home})
        if labs == BOTH:
            client.call("check_env", {"lab": "gpu-2"})  # starts it, as the home has been started
        run.ready(self.plan["versions"][1])
        self.row(f"{named(labs)}: a run of {run.kernel_name} is ready",
                 ", ".join(f"{tool} {seconds:.1f} s" for _, tool, seconds in run.steps[:3])
                 + f", ceilings and noise {time.monotonic() - start:.1f} s", None)
        return run

    def build(self, client, run):
        """All branches, by an exploration that is canceled a while after the first is built."""
        start = time.monotonic()
        job = client.begun("explore_branches", {"run": run.run, "branches": self.branches()})
        while (state := client.state(job))["state"] == "working" and "build" in (state.get("message") or "building"):
            time.sleep(0.05)
        time.sleep(2 if self.options.processor else 4)  # the slowest compilers
        client.server.answer("cancel_job", {"job": job})
        while client.state(job)["state"] == "working":
            time.sleep(0.05)
        self.row("builds, by an exploration that is canceled", f"{time.monotonic() - start:.2f} s", None)

    def explore(self, client, run, labs, turn):
        name = named(labs)
        before = self.used(client)
        start = time.monotonic()
        answer, said = client.watched("explore_branches", {"run": run.run, "branches": self.branches()})
        wall = time.monotonic() - start
        after = self.used(client)
        did = {lab: {"branches": [one["name"] for one in answer["branches"] if one.get("lab") == lab],
                     "used_s": round(state["used"] - before[lab]["used"], 2),
                     "differs": state.get("differs")} for lab, state in after.items()}
        fact = {"labs": labs, "turn": turn, "wall_s": round(wall, 2), "phases_s": phases_of(said, wall), "by_lab": did,
                "branches": answer["branches"], "decision": answer["decision"], "said": said}
        self.found["explorations"].append(fact)
        self.row(f"{name}: {len(answer['branches'])} branches", f"{wall:.2f} s; {fact['phases_s']}; "
                 + "; ".join(f"{lab} {len(one['branches'])} branches, {one['used_s']} s" for lab, one in did.items()),
                 None)
        states = [one["status"] for one in answer["branches"]]
        wrong = [f"{one['name']} {one['reasons']}" for one in answer["branches"] if one["reasons"]]
        self.row(f"{name}: all branches work", f"{answer['decision']} {wrong}", set(states) <= {"frontier", "champion"})
        if labs == BOTH:
            self.row(f"{name}: both labs are alike and did some", {lab: one["differs"] or "alike" for lab, one in did.items()},
                     all(one["branches"] and not one["differs"] for one in did.values()))
        return fact

    def compare(self):
        """The wall times, and what the home's times of branches were with both labs and with it alone."""
        ratios, walls = [], []
        for turn in range(1, self.options.turns + 1):
            by = {one["labs"]: one for one in self.found["explorations"] if one["turn"] == turn}
            if len(by) < 3:
                continue
            both, first, second = (by[labs]["wall_s"] for labs in (BOTH, (1,), (2,)))
            ratios.append(both / ((first + second) / 2))
            walls.append(f"{both} s / {first} and {second} s = {ratios[-1]:.3f}")
        if not ratios:
            return
        ratio = self.found["ratio"] = round(statistics.median(ratios), 3)
        self.row("two labs against each alone, all built", f"{'; '.join(walls)}; median {ratio:.3f} (goal {GOAL})",
                 None if self.options.processor else ratio <= GOAL)
        alone, both = (next(one for one in self.found["explorations"] if one["labs"] == labs) for labs in ((1,), BOTH))
        medians = {branch["name"]: branch.get("median_ns") for branch in alone["branches"]}
        off = {branch["name"]: f"{branch['median_ns'] / medians[branch['name']] - 1:+.2%} {branch['lab']}"
               for branch in both["branches"] if branch.get("median_ns") and medians.get(branch["name"])}
        self.row("medians of branches, two labs against gpu-1 alone", off, None)

    def noise(self, time_ns):
        """Of comparisons on the GPU, as calibrated: a fraction."""
        known = [json.loads(file.read_text(encoding="utf-8")) for file in self.folder.glob("far*/noise/*.json")]
        found = [one.get("profile", one) for one in known]
        return max([LEAST_NOISE] + [one["relative"] + one.get("absolute_ns", 0) / time_ns for one in found
                                    if "relative" in one])

    def medians(self, client):
        """One kernel on each GPU, alone and beside the other, which is kept busy with it."""
        kernel = "v1_vectors.cpp" if self.options.processor else "v1_mma.cu"
        runs = {lab: Run(client, self.plan, self.examples, self.place(BOTH, 1) / f"median {lab}", lab)
                for lab in ("gpu-1", "gpu-2")}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda run: run.begin(kernel), runs.values()))
        found = self.found["medians_ns"] = {}
        for lab, other in (("gpu-1", "gpu-2"), ("gpu-2", "gpu-1")):
            alone, beside = [], []
            for _ in range(TURNS):
                alone.append(self.benchmarked(client, runs[lab]))
                with Busy(lambda: self.benchmarked(client, runs[other])) as busy:
                    beside.append(self.benchmarked(client, runs[lab]))
            found[lab] = {"alone": alone, "beside": beside}
            off = statistics.median(beside) / statistics.median(alone) - 1
            allowed = max(self.noise(statistics.median(alone)), max(alone) / min(alone) - 1)
            self.row(f"{kernel} on {lab} beside {other} at work, against alone",
                     f"{off:+.2%}, allowed ±{allowed:.2%}; alone {[round(one / 1e3, 1) for one in alone]} us, beside "
                     f"{[round(one / 1e3, 1) for one in beside]} us; the other did {busy.times} meanwhile, at last",
                     None if self.options.processor else abs(off) <= allowed and busy.times > 0)
        off = statistics.median(found["gpu-2"]["alone"]) / statistics.median(found["gpu-1"]["alone"]) - 1
        self.row(f"{kernel}: gpu-2 against gpu-1, each alone", f"{off:+.2%}", None)

    def benchmarked(self, client, run):
        trials = 20 if self.options.processor else 300
        answer = client.call("benchmark", {"run": run.run, "num_trials": trials, "baselines": ["none"], "wait_s": 120})
        return answer["rows"][0]["median_ns"]

    def turn(self, labs, turn):
        """One exploration with these labs; the first of all builds what the others find built."""
        name, first = f"{named(labs)}, turn {turn}", labs == BOTH and turn == 1
        if self.late(name):
            return
        client = self.serve(labs, turn)
        run = self.opened(client, labs, turn)
        if first and self.options.medians:
            self.medians(client)
        if not self.late(name):
            if first:
                self.build(client, run)
            self.explore(client, run, labs, turn)
        if labs == BOTH:
            self.found["list_labs"] = list(self.used(client).values())
        client.close()

    def play(self):
        if self.options.contexts:
            self.contexts()
        for turn in range(1, self.options.turns + 1):
            for labs in (BOTH, (1,), (2,)):
                self.turn(labs, turn)
        self.compare()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratchet", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=140)
    parser.add_argument("--branches", type=int, default=12, choices=range(4, 17))
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--from", dest="kernel")
    parser.add_argument("--no-medians", dest="medians", action="store_false")
    parser.add_argument("--contexts", action="store_true")
    parser.add_argument("--processor", action="store_true")
    checks = Checks(parser.parse_args())
    try:
        checks.play()
    except (drive.Refused, RuntimeError, KeyError, OSError) as error:
        checks.row("the check itself", repr(error)[:1500], False)
    checks.row("all of it", f"{time.monotonic() - checks.begin:.1f} s", None)
    return checks.save()


if __name__ == "__main__":
    sys.exit(main())
