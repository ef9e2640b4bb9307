#!/usr/bin/env python3
"""Sends every kernel of tests/attacks/ to one running server, as a client would.

    tests/attacks/run.py RATCHET cuda|host|python|host-python|walls OUT [NAME...]

`python` runs tests/attacks/python on a GPU, `host-python` runs the same kernels on the CPU, except
those that need a GPU. `walls` runs tests/attacks/walls/cuda, which try to leave a worker on a GPU.

Writes OUT/attacks-DEVICE.md and .json: where each kernel was stopped and why, compared with the
expectation in its header. The exit status is the number of kernels that differed.
"""

import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, command_of, devices_text  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# What runs where: folder, suffix, dims of the tasks, reference's suffix, implementation.
KINDS = {"cuda": ("cuda", ".cu", "cuda", "cu", "cuda-cpp"),
         "host": ("host", ".cpp", "host", "cpp", "host-cpp"),
         "walls": ("walls/cuda", ".cu", "cuda", "cu", "cuda-cpp"),
         "python": ("python", ".py", "cuda", "py", "triton"),
         "host-python": ("python", ".py", "host", "py", "host-python")}
# Concurrent runs: kernels are built in parallel, and the server measures one after another. On the
# CPU a compiler would disturb the measurement.
JOBS = {"cuda": 6, "walls": 6, "python": 6, "host": 1, "host-python": 1}
WARM = "warm_when_timed"
CAVEATS = (WARM, "implausibly_fast")
DEADLINE_S = {"python": 15, "host-python": 15}  # a first call of torch.compile traces for seconds
MOST_GAIN = 1.15  # speedup of a harmless kernel over its equal: the noise of two runs


class Attack:
    def __init__(self, path):
        self.name = path.stem
        self.text = path.read_text(encoding="utf-8")
        self.catalog = self.head("Catalog").split()
        self.task = self.head("Task")
        self.stage, _, self.what = self.head("Expect").partition(" ")
        self.flags = self.head("Flags", "").split()
        self.device = self.head("Device", "")
        self.search = float(self.head("Search", "0"))  # seconds

    def head(self, key, default=None):
        found = re.search(rf"^(?://|#) {key}: (.*)$", self.text, re.M)
        return found.group(1) if found or default is None else default


def task_of(name, device):
    tasks = json.loads((HERE / "tasks" / "tasks.json").read_text(encoding="utf-8"))
    task = dict(tasks[name])
    base = task.pop("like", name)
    task = {**tasks[base], **task}
    _, _, sizes, suffix, implementation = KINDS[device]
    reference = (HERE / "tasks" / f"{base}.{suffix}").read_text(encoding="utf-8")
    dims = task[sizes]
    kept = ("tensors", "work", "atol", "rtol", "call", "signature")
    task = {key: task[key] for key in kept if key in task}
    task = {key: value for key, value in task.items() if value is not None}
    return {**task, "dims": dims, "reference": {"text": reference}, "implementation": implementation}


class Suite:
    def __init__(self, server, device, folder):
        self.server, self.device, self.folder = server, device, folder
        self.medians = {}

    def outcome(self, attack):
        """(stage, codes, text, median ns)"""
        created, refused = self.server.call("create_run", {
            **task_of(attack.task, self.device), "kernel": {"text": attack.text},
            "flags": attack.flags, "output_dir": str(self.folder / attack.name)})
        if refused is not None:
            return "build", [], refused, 0
        warnings = created["warnings"]
        if attack.stage == "shown":
            return ("shown", [], "; ".join(w["message"] for w in created["build"]["warnings"]), 0)
        if attack.stage == "admit":
            return ("admit", [w["code"] for w in warnings],
                    "; ".join(w["message"] for w in warnings), 0)
        check = {"run": created["run"]}
        if attack.search:
            check["search"] = attack.search
        checked, refused = self.server.call("check_correctness", check)
        if refused is not None:
            return "refused", [], refused, 0
        if not checked["passed"]:
            return ("search" if "search" in checked else "check", [r["code"] for r in checked["reasons"]],
                    "; ".join(r["message"] for r in checked["reasons"]), 0)
        if attack.stage in ("check", "search", "held"):
            return "pass", [], "the check passed", 0
        profiled, refused = self.server.call("profile_kernel",
                                             {"run": created["run"], "metrics": "lean"})
        if refused is not None:
            return "refused", [], refused, 0
        timing = profiled["timing"]
        stage = "profile" if timing["verdict"] == "invalid" else "pass"
        return (stage, [r["code"] for r in profiled["reasons"]] +
                [flag for flag in timing.get("flags", []) if flag in CAVEATS],
                "; ".join(r["message"] for r in profiled["reasons"]), timing["median_ns"])

    def as_expected(self, attack, stage, codes, text, median):
        if attack.stage == "pass":
            return stage == "pass" and not codes
        if attack.stage == "flag":
            # Slower when it is timed again, beside neighbors: then the time does not count.
            return stage in ("pass", "profile") and attack.what in codes
        if attack.stage == "held":  # the answer is wrong if the attack worked
            return stage == "pass" or any(code.startswith("fault_") for code in codes)
        if attack.stage == "time":
            return stage == "pass" and median >= float(attack.what)
        if attack.stage == "like":
            return stage == "pass" and (WARM in codes or
                                        self.medians[attack.what] / median < MOST_GAIN)
        wanted = attack.what.split("|")
        if stage != attack.stage and not (attack.stage == "any" and stage in ("check", "profile")):
            return False
        if stage in ("build", "shown"):
            return any(word in text for word in wanted)
        return any(code in wanted for code in codes)

    def run(self, attack):
        begin = time.monotonic()
        stage, codes, text, median = self.outcome(attack)
        self.medians[attack.name] = median
        good = self.as_expected(attack, stage, codes, text, median)
        return {"name": attack.name, "catalog": attack.catalog, "task": attack.task,
                "expected": f"{attack.stage} {attack.what}".strip(), "stopped_at": stage,
                "reasons": codes, "text": text[:400], "median_ns": median,
                "seconds": round(time.monotonic() - begin, 2), "as_expected": good}


def write(out, device, rows, info):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    device_text = devices_text(info)
    head = {"command": f"tests/attacks/run.py … {device}", "date": now, "devices": device_text,
            "sandbox": info.get("sandbox", "")}
    (out / f"attacks-{device}.json").write_text(
        json.dumps({**head, "rows": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    cheats = [row for row in rows if row["catalog"] != ["honest"]]
    honest = [row for row in rows if row["catalog"] == ["honest"]]
    caught = sum(row["as_expected"] for row in cheats)
    passed = sum(row["as_expected"] for row in honest)
    lines = [f"# Attacks on {device}", "",
             f"Command: `{head['command']}`. Devices: {device_text}. Date: {now}.", "",
             f"{caught} of {len(cheats)} cheats as expected, {passed} of {len(honest)} honest "
             "kernels passed.", "",
             "| kernel | catalog | stopped at | reasons | median, µs | as expected |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['name']} | {' '.join(row['catalog'])} | {row['stopped_at']} | "
                     f"{', '.join(row['reasons'])} | {row['median_ns'] / 1000:.1f} | "
                     f"{'yes' if row['as_expected'] else 'NO: ' + row['expected']} |")
    (out / f"attacks-{device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def report(row):
    print(f"{'ok  ' if row['as_expected'] else 'FAIL'} {row['name']}: {row['stopped_at']} "
          f"{','.join(row['reasons'])} {row['median_ns'] / 1000:.1f} us {row['seconds']} s"
          + ("" if row["as_expected"] else f" expected {row['expected']}: {row['text']}"), flush=True)


def main():
    ratchet, device, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    names = set(sys.argv[4:])
    out.mkdir(parents=True, exist_ok=True)
    folder, suffix, sizes, _, _ = KINDS[device]
    attacks = [Attack(path) for path in sorted((HERE / folder).glob("*" + suffix))]
    attacks = [a for a in attacks if sizes == "cuda" or a.device != "cuda"]
    # The kernels that others are compared with come first.
    first = ("honest_plain", "honest_row_sums", "honest_torch")
    attacks.sort(key=lambda attack: attack.name not in first)
    attacks = [a for a in attacks if not names or a.name in names or a.name in first]
    with tempfile.TemporaryDirectory() as temporary:
        server = Server([ratchet, "serve", "--state-dir", temporary + "/state", "--root", temporary,
                         "--job-deadline", str(DEADLINE_S.get(device, 5)), "--no-builtin-kbs"])
        info, _ = server.call("check_env", {})
        suite = Suite(server, device, pathlib.Path(temporary))
        rows = []
        ahead = sum(attack.name in first for attack in attacks)
        with concurrent.futures.ThreadPoolExecutor(JOBS[device]) as pool:
            for part in (attacks[:ahead], attacks[ahead:]):
                for row in pool.map(suite.run, part):
                    rows.append(row)
                    report(row)
                    write(out, device, rows, info or {})
        left = server.strays()
        if left:
            print("FAIL processes left: " + "; ".join(f"{pid} {command_of(pid)}" for pid in left))
        server.close()
    failed = sum(not row["as_expected"] for row in rows) + bool(left)
    print(f"{len(rows)} kernels, {failed} not as expected")
    return min(failed, 99)


if __name__ == "__main__":
    sys.exit(main())
