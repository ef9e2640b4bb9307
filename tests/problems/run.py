#!/usr/bin/env python3
"""Imports problems of other suites, and asks whether each can be judged: its own code as the kernel must
pass, and that kernel with a truncated, a constant and a less precise answer must be refused.

    tests/problems/run.py RATCHET SUITE OUT [--only-import] [--scale SIZE] [--at-once N] [--limit S]
                          [--seconds S] [--gpus N] [NAME...]

SUITE is a folder: every .py file with a class Model in it, and every folder below it that a format knows, is
one problem, and every folder with a problem.json is one that was imported before; NAME keeps those whose
path has it. The suites are asked in the order of ORDER. Each of --at-once problems has a server of its own,
which serves one problem after the other, on a share of the processor's cores (torch takes all that it sees)
and on one of --gpus devices, the first of CUDA_VISIBLE_DEVICES where that is set.

The mutants take turns, one a call, in a single kernel: each has to be refused in a call of its own. One that
is not is asked again alone. One that takes longer than --limit gets a row that says what it was at, and its server is
replaced. A row goes to OUT/problems.jsonl as soon as it is decided; what that file has is not asked again,
unless it was late and --limit is higher now, so that a call which --seconds ends goes on where it stopped.
RATCHET_PYTHON names a Python with torch. Writes OUT/problems.md: the counts, the time of each step, by the
clock and of the processor, and a row a problem.

The exit status is the number of problems that were not asked about.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import queue
import re
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
from client import devices_text  # noqa: E402
from drivers import add_common, exit_status, in_threads, now, served  # noqa: E402

MARKS = {"definition.json", "task.yml", "shapes.json", "config_forward.json", "config_backward.json",
         "def.py", "problem.json"}
ORDER = ("level1", "level2", "level3", "robust", "gpumode", "atrex", "sol", "tensara")
MUTANTS = ("truncated", "constant", "less_precise")
FEWEST_CORES = 2  # of a server and its processes
GOLDEN = (math.sqrt(5) - 1) / 2
TICKS = os.sysconf("SC_CLK_TCK")

# Wraps the kernel's entry. `_turns` are pairs of functions for what it is given and what it returns. What a mutant leaves right is what a judge has to look beyond. Where no output is
# a floating-point number, the less precise one rounds what it is given.
MUTANT = '''

import torch as _torch


def _each(value, change):
    if isinstance(value, _torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_each(one, change) for one in value)
    if isinstance(value, dict):
        return {key: _each(one, change) for key, one in value.items()}
    return value


def _same(value):
    return value


def _truncated(value):
    value = value.detach().clone()
    flat = value.view(-1) if value.is_contiguous() else value.reshape(-1)
    flat[flat.numel() - (flat.numel() + 3) // 4:] = 0
    return flat.reshape(value.shape)


def _constant(value):
    return _torch.full_like(value, 1 if value.dtype == _torch.bool else 0.5
                            if value.is_floating_point() else 1)


def _less_precise(value):
    less = {_torch.float64: _torch.float32, _torch.float32: _torch.bfloat16}.get(
        value.dtype, _torch.float8_e4m3fn)
    return value.to(less).to(value.dtype) if value.is_floating_point() else value


_calls = iter(range(1 << 62))


def _turn():
    return _turns[next(_calls) % len(_turns)]


'''
WRAPPED = {
    "module": "\n\n_Honest = ModelNew\n\n\nclass ModelNew(_Honest):\n    def forward(self, *a, **k):\n"
              "        before, after = _turn()\n"
              "        return _each(super().forward(*_each(a, before), **k), after)\n",
    "function": "\n\n_honest = {entry}\n\n\ndef {entry}(*a, **k):\n"
                "    before, after = _turn()\n"
                "    return _each(_honest(*_each(a, before), **k), after)\n",
    "run_kernel": "\n\n_honest = run_kernel\n\n\ndef run_kernel(**given):\n"
                  "    before, after = _turn()\n"
                  "    taken = _honest.__code__.co_varnames[:_honest.__code__.co_argcount]\n"
                  "    _honest(**_each({{name: given[name] for name in taken}}, before))\n"
                  "    for name in {outputs}:\n"
                  "        given[name].copy_(after(given[name]))\n"}


def problems_in(suite, names):
    """The file or folder of every problem, one suite after the other. Neighbors are alike, so the order spreads
    over the whole suite: a call that ends early has asked some of every kind."""
    found = []
    for path in suite.rglob("*"):
        if path.is_dir() and MARKS & {one.name for one in path.iterdir()}:
            found.append(path)
        elif path.suffix == ".py" and "class Model" in path.read_text(errors="replace") and \
                not MARKS & {one.name for one in path.parent.iterdir()}:
            found.append(path)
    key = lambda path: [int(part) if part.isdigit() else part
                        for part in re.split(r"(\d+)", str(path.relative_to(suite)))]
    kept = sorted((path for path in found if not names or any(n in str(path) for n in names)), key=key)
    places = sorted(range(len(kept)), key=lambda at: at * GOLDEN % 1)
    return sorted((kept[at] for at in places), key=lambda path: rank_of(path.relative_to(suite)))


def rank_of(path):
    ranks = [at for at, name in enumerate(ORDER) if any(part.startswith(name) for part in path.parts)]
    return min(ranks, default=len(ORDER))


def processor_s(server):
    """Processor time of a server, of its processes that ended and of those that are there."""
    spent = 0
    for pid in [server.process.pid, *server.children()]:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        spent += sum(int(field) for field in fields[11:15])  # its own and of those it waited for
    return spent / TICKS


def mutants_of(task):
    """Name of each mutant, and what it does to what it is given and to what it returns."""
    rounded = {tensor["role"] == "in" for tensor in task["tensors"]
               if tensor["dtype"].startswith(("float", "bfloat"))}
    for mutant in MUTANTS:
        if mutant != "less_precise" or False in rounded:
            yield mutant, ("same", mutant)
        elif rounded:
            yield mutant, (mutant, "same")


def mutated(folder, task, turns):
    """The text of the problem's kernel with these changes, in turns."""
    outputs = [tensor["name"] for tensor in task["tensors"] if tensor["role"] != "in"]
    listed = ", ".join(f"(_{before}, _{after})" for before, after in turns)
    return (folder / "v0.py").read_text() + MUTANT + f"_turns = [{listed}]\n" + \
        WRAPPED[task.get("call", "run_kernel")].format(entry=task["entry"], outputs=outputs)


def verdicts_by_turn(cases, mutants):
    """For each mutant how many of its calls were judged, and how many of those refused."""
    counts = {mutant: [0, 0] for mutant in mutants}
    calls = 0
    for case in cases:
        judged = counts[mutants[calls % len(mutants)]]
        judged[0] += 1
        judged[1] += not case["passed"]
        calls += 2 if case["seed"] == 0 and case["distribution"] == "normal" else 1  # asked twice
    return counts


class Asked:
    """One problem: its row, the seconds of each step, and the server that is killed when it is late."""

    def __init__(self, server, name, seconds):
        self.server, self.late = server, False
        self.row = {"problem": name, "state": "refused", "why": "", "steps": {}}
        self.step = ""
        self.timer = threading.Timer(seconds, self.stop)
        self.timer.start()

    def stop(self):
        self.late = True
        self.server.process.kill()

    def call(self, step, tool, arguments):
        self.step = step
        begin, used = time.monotonic(), processor_s(self.server)
        try:
            return self.server.call(tool, arguments)
        finally:
            before = self.row["steps"].get(step, [0, 0])
            now_spent = time.monotonic() - begin, max(0, processor_s(self.server) - used)
            self.row["steps"][step] = [round(one + more, 2) for one, more in zip(before, now_spent)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()


class Suite:
    def __init__(self, given, root):
        self.given, self.root, self.begin = given, root, time.monotonic()
        self.cores = sorted(os.sched_getaffinity(0))
        self.file = given.out / "problems.jsonl"
        rows = [json.loads(line) for line in self.file.read_text().splitlines()] \
            if self.file.exists() else []
        self.rows = [row for row in rows if row.get("late", given.limit) >= given.limit]
        self.file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows))
        done = {row["problem"] for row in self.rows}
        self.all = problems_in(given.suite, given.names)
        self.plan = queue.SimpleQueue()
        for path in self.all:
            if str(path.relative_to(given.suite)) not in done:
                self.plan.put(path)
        self.lock, self.where = threading.Lock(), ""

    def judged(self, asked, step, request):
        """A run, what the check of its kernel said, and what went wrong."""
        created, failure = asked.call(f"{step}: create", "create_run", request)
        if failure is not None:
            return None, None, failure
        checked, failure = asked.call(f"{step}: check", "check_correctness", {"run": created["run"]})
        return created, checked, failure

    def imported(self, asked, path, place):
        """The problem's folder; None where it is refused, which the row says."""
        row = asked.row
        if (path / "problem.json").exists():
            problem = json.loads((path / "problem.json").read_text())
            row.update(state="imported", differences=problem.get("changed", []))
            return path
        wanted = {"path": str(path), "output_dir": str(place / "problem")}
        if self.given.scale:
            wanted["scale"] = self.given.scale
        imported, failure = asked.call("import", "import_problem", wanted)
        if failure is not None and "no size can be reduced further" in failure and self.given.scale:
            del wanted["scale"]  # as large as the problem has to be
            imported, failure = asked.call("import", "import_problem", wanted)
        if failure is not None and failure.startswith("unavailable"):
            raise SystemExit(failure)
        if failure is not None:
            row["why"] = failure.split("\n")[0]
            return None
        row.update(state="imported", differences=imported["differences"], bytes=imported["bytes"])
        return place / "problem"

    def ask(self, asked, path, place):
        """Fills the row."""
        row = asked.row
        folder = self.imported(asked, path, place)
        if folder is None or self.given.only_import or not (folder / "v0.py").exists():
            return
        for any_size in (True, False):
            request = {"problem": str(folder), "any_size": any_size}
            created, checked, failure = self.judged(
                asked, "own", {**request, "output_dir": str(place / f"run{any_size}")})
            if created is not None:
                row.update(warnings=[one["code"] for one in created["warnings"]], any_size=any_size)
            if failure is None and checked["passed"]:
                self.ask_mutants(asked, folder, place, request)
                return
        row["why"] = failure or "its own code is refused: " + (
            "; ".join(f"{reason['code']}: {reason['message']}" for reason in checked["reasons"]) or "no reason")

    def ask_mutants(self, asked, folder, place, request):
        row = asked.row
        task = json.loads((folder / "problem.json").read_text())["task"]
        turns = dict(mutants_of(task))
        checked, failure = self.judged_kernel(asked, place, "mutants",
                                              mutated(folder, task, turns.values()), request)
        if failure is None:
            counts = verdicts_by_turn(checked["cases"], list(turns))
            row["mutants"] = {mutant: f"{refused} of {judged} refused"
                              for mutant, (judged, refused) in counts.items()}
        passed = []
        for mutant in [one for one in turns if failure is not None or not counts[one][1]]:
            checked, failed = self.judged_kernel(asked, place, mutant,
                                                 mutated(folder, task, [turns[mutant]]), request)
            if failed is not None:
                row["why"] = f"{mutant}: {failed}"
                return
            row.setdefault("mutants", {})[mutant] = ", ".join(
                reason["code"] for reason in checked["reasons"]) or "no reason"
            if checked["passed"]:
                passed.append(mutant)
        if passed:
            row["why"] = f"wrong answers pass: {', '.join(passed)}"
        else:
            row["state"] = "admitted"

    def judged_kernel(self, asked, place, name, text, request):
        kernel = place / f"{name}.py"
        kernel.write_text(text)
        _, checked, failure = self.judged(asked, "mutant", {
            **request, "kernel": {"path": str(kernel)}, "output_dir": str(place / name)})
        return checked, failure

    def started(self, number):
        share = max(FEWEST_CORES, len(self.cores) // self.given.at_once)
        first = number * share
        own = {self.cores[at % len(self.cores)] for at in range(first, first + share)}
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        gpus = (seen.split(",") if seen else list(map(str, range(self.given.gpus))))[:self.given.gpus]
        device = {"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {}
        return served(self.given.ratchet, self.root, number, "--root", str(self.given.suite),
                      "--job-deadline", str(math.ceil(self.given.limit)),
                      arguments=self.given.option, cores=sorted(own), environment=device)

    def left(self):
        return self.given.seconds - (time.monotonic() - self.begin)

    def work(self, number, server):
        while self.left() > 0:
            try:
                path = self.plan.get_nowait()
            except queue.Empty:
                break
            start, left = time.monotonic(), self.left()
            name = str(path.relative_to(self.given.suite))
            with tempfile.TemporaryDirectory(dir=self.root, ignore_cleanup_errors=True) as place, \
                    Asked(server, name, min(self.given.limit, left)) as asked:
                try:
                    self.ask(asked, path, pathlib.Path(place))
                except SystemExit as error:  # nothing can be asked here
                    self.given.seconds = 0
                    print(f"FAIL {name}: {error}", flush=True)
                    break
                except (RuntimeError, OSError) as error:  # the server has ended
                    asked.row["why"] = f"not within {self.given.limit:.0f} s: at {asked.step}" \
                        if asked.late else f"at {asked.step}: {error}"
            if asked.late and left < self.given.limit:
                break  # the whole call's time is up: it is asked again later
            if asked.late:
                asked.row["late"] = self.given.limit
            if not server.alive() or asked.late:
                server = self.started(number)
            self.keep({**asked.row, "seconds": round(time.monotonic() - start, 1)})
        server.close()

    def keep(self, row):
        with self.lock:
            self.rows.append(row)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self.write()
            print(f"{len(self.rows)}/{len(self.all)} {row['state']:8} {row['problem']} "
                  f"{row['seconds']} s {row['why'][:160]}", flush=True)

    def run(self):
        servers = [self.started(number) for number in range(self.given.at_once)]
        os.sched_setaffinity(0, self.cores)
        environment = servers[0].call("check_env", {})[0]
        self.where = devices_text(environment)
        gpu = any(device["kind"] == "cuda" for device in environment.get("devices", []))
        print(f"{len(self.all)} problems, {len(self.rows)} decided before, on {self.where}"
              f"{'' if gpu else ' (no GPU)'}, {self.given.at_once} at once", flush=True)
        in_threads(self.work, enumerate(servers))
        self.write()
        counts = collections.Counter(row["state"] for row in self.rows)
        print("\n".join(self.phases()))
        print(f"{len(self.all)} problems: {dict(counts)} in {time.monotonic() - self.begin:.0f} s")
        return len(self.all) - len({row["problem"] for row in self.rows})

    def phases(self):
        """A table of where the time goes."""
        steps = {}
        for row in self.rows:
            for step, spent in row["steps"].items():
                steps.setdefault(step, []).append(spent)
        lines = ["| step | problems | median s | 90 % s | most s | all s | processor, median s | all s |",
                 "|---|---|---|---|---|---|---|---|"]
        for step, spent in steps.items():
            clock, used = (sorted(one) for one in zip(*spent))
            at = lambda values, share: values[min(len(values) - 1, int(share * len(values)))]
            lines.append(f"| {step} | {len(spent)} | {at(clock, 0.5):.2f} | {at(clock, 0.9):.2f} | "
                         f"{clock[-1]:.2f} | {sum(clock):.0f} | {at(used, 0.5):.2f} | {sum(used):.0f} |")
        return lines

    def by_suite(self):
        """A table of the states, by folder: an imported suite is one."""
        counts = collections.defaultdict(collections.Counter)
        for path in self.all:
            counts[self.suite_of(str(path.relative_to(self.given.suite)))]["problems"] += 1
        for row in self.rows:
            counts[self.suite_of(row["problem"])][row["state"]] += 1
        return ["| suite | problems | admitted | imported, not admitted | refused |", "|---|---|---|---|---|",
                *(f"| {suite} | {one['problems']} | {one['admitted']} | {one['imported']} | "
                  f"{one['refused']} |" for suite, one in sorted(counts.items()))]

    def suite_of(self, name):
        return name.partition("/")[0] if "/" in name else self.given.suite.name

    def write(self):
        counts = collections.Counter(row["state"] for row in self.rows)
        imported = f"{counts['imported']} imported, of which nothing else was asked" if self.given.only_import \
            else f"{counts['admitted']} admitted, {counts['imported']} imported and not admitted"
        lines = [f"# Problems of {self.given.suite.name}", "",
                 f"{now('%Y-%m-%d')}, {self.where}. {len(self.all)} problems: {imported}, {counts['refused']} refused, "
                 f"{len(self.all) - len(self.rows)} not asked about.", "", *self.by_suite(), "",
                 *self.phases(), "",
                 "| problem | state | seconds | differs from the suite | why |", "|---|---|---|---|---|"]
        for row in self.rows:
            why = row["why"].replace("|", "\\|").replace("\n", " ")[:300]
            lines.append(f"| {row['problem']} | {row['state']} | {row['seconds']} | "
                         f"{'; '.join(row.get('differences', []))[:200]} | {why} |")
        (self.given.out / "problems.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet")
    parser.add_argument("suite", type=lambda text: pathlib.Path(text).resolve())
    add_common(parser)
    parser.add_argument("--only-import", action="store_true")
    parser.add_argument("--scale", default="")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one problem")
    parser.add_argument("--gpus", type=int, default=0, help="devices that the servers share")
    parser.add_argument("--option", action="append", default=[], help="of ratchet, as --option=--x=y")
    return exit_status(Suite, parser.parse_intermixed_args())


if __name__ == "__main__":
    sys.exit(main())
