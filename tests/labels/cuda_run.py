#!/usr/bin/env python3
"""Labels the kernels of cuda/ by intervention on a GPU and compares a server's diagnosis with them.

    tests/labels/cuda_run.py RATCHET OUT [--threads N] [--seconds S] [--build-only ARCH] [--verify]
                             [--labels FILE | --after FILE] [NAME...]

First every kernel is timed against itself without each suspected cause (cuda_times.py); then a server
builds, checks and profiles it as it is. N threads ask it, so it builds while the device counts: several
servers would take the counters from each other. --labels takes the labels of an earlier run (its labels-cuda.json), --after its profiles too, and goes on
from there. --verify has every profile try its findings by interventions of its own. --build-only compiles
everything for ARCH and ends, on a machine without a GPU. After S seconds
no other kernel is begun. NAME is a kernel or a half: blind, scored, unseen or seen.

Writes OUT/labels-cuda.json and .md as it goes, and OUT/cuda-labels.json, which a test replays. A finding is contradicted if all causes that it stands
for are, and right if it stands for one whose removal saves at least half of what the best one saves.
A kernel that does not build, or faults, costs no other. The exit status is the number of kernels that were not
diagnosed at all.
"""

import argparse
import collections
import datetime
import json
import pathlib
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from cuda_kernels import CAUSES, HALVES, kernels_of  # noqa: E402
from cuda_times import build_all, labeled_alone  # noqa: E402
from profiles import devices_text, name_of, profile_of, server_in  # noqa: E402
from scores import rows_of_matrix  # noqa: E402

NOT_ABOUT_THE_KERNEL = {"host-neighbors"}


def classes_of(cause):
    return set(CAUSES[cause][0].split())


def findings_of(cause):
    return set(CAUSES[cause][1].split())


def truth_of(label):
    """Classes and findings that are right, best cause first, and findings that are contradicted."""
    gains = {name: cause["saved"][0] if not cause["floor"] else 1 - cause["saved"][0]
             for name, cause in label["causes"].items() if cause["verdict"] == "confirmed"}
    most = max(gains.values(), default=0)
    causes = sorted((name for name in gains if gains[name] >= most / 2), key=gains.get, reverse=True)
    known = {name: label["causes"][name]["verdict"] for name in label["causes"]}
    # What a confirmed or undecided cause stands for too is not contradicted.
    kept = set().union(*(findings_of(name) for name in known if known[name] != "contradicted"))
    against = set().union(*(findings_of(name) for name in known if known[name] == "contradicted"))
    classes = set().union(*map(classes_of, causes))
    # Causes that share no class make a mixed kernel.
    if any(not classes_of(a) & classes_of(b) for a in causes for b in causes):
        classes.add("mixed")
    return {"causes": causes, "classes": sorted(classes),
            "findings": sorted(set().union(*map(findings_of, causes))), "against": sorted(against - kept)}


def verdict_of(label, profile):
    truth = truth_of(label)
    named = [name for name in map(name_of, profile["findings"]) if name not in NOT_ABOUT_THE_KERNEL]
    return {**truth, "class": profile["bound"], "named": named, "decided": bool(truth["causes"]),
            "class_right": profile["bound"] in truth["classes"],
            "finding_right": bool(named) and named[0] in truth["findings"],
            "finding_in_three": bool(set(named[:3]) & set(truth["findings"])),
            "contradicted": [one for one in named if one in truth["against"]]}


def outcomes_of(label, profile):
    """(finding, what an intervention of the profile says, whether the label agrees or None), of those that it
    confirms or does not."""
    truth, found = truth_of(label), []
    for finding in profile["findings"]:
        said = {"confirmed": True, "not_confirmed": False}.get(finding.get("outcome"))
        if said is not None:
            name = name_of(finding)
            known = True if name in truth["findings"] else False if name in truth["against"] else None
            found.append((name, finding["outcome"], None if known is None else known == said))
    return found


class Suite:
    def __init__(self, given, root):
        self.given, self.root, self.kernels = given, root, kernels_of(given.names)
        self.labels, self.profiles, self.failures = {}, {}, {}
        self.lock, self.begin, self.where = threading.Lock(), time.monotonic(), ""
        self.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")

    def say(self, text):
        print(f"{time.monotonic() - self.begin:5.0f} s  {text}", flush=True)

    def label(self):
        if self.given.labels or self.given.after:
            found = json.loads((self.given.labels or self.given.after).read_text(encoding="utf-8"))
            self.labels = {kernel.name: found["labels"][kernel.name] for kernel in self.kernels
                           if kernel.name in found["labels"]}
        if self.given.labels:
            return
        if self.given.after:
            self.profiles = found.get("profiles", {})
        new = [kernel for kernel in self.kernels if kernel.name not in self.labels]
        libraries, self.failures = build_all(new, self.root, self.given.build_only or "native")
        self.say(f"{len(libraries)} versions of {len(new)} kernels built, {self.failures} not")
        if self.given.build_only:
            return
        for kernel in [one for one in new if one.name not in self.failures]:
            try:
                label = self.labels[kernel.name] = labeled_alone(kernel, libraries)
            except RuntimeError as failed:
                self.failures[kernel.name] = str(failed)
                self.say(f"FAIL {kernel.name}: {failed}")
                continue
            gains = {name: f"{cause['saved'][0]:.0%} {cause['verdict']}"
                     for name, cause in label["causes"].items()}
            self.say(f"{kernel.name}: {label['seconds'][0]:.0f} µs, {gains} "
                     f"{'OTHER ANSWERS ' if label['other_answers_found'] else ''}"
                     f"{label['other_answers_found'] or ''}")
            self.write()

    def profile(self, server, kernel):
        answer, refused = profile_of(server, kernel.request(self.root / kernel.name),
                                     verify=self.given.verify)
        with self.lock:
            if refused is not None:
                self.failures[kernel.name] = refused[:600]
                self.say(f"FAIL {kernel.name}: {refused[:300]}")
                return
            self.profiles[kernel.name] = {key: answer[key] for key in (
                "timing", "bound", "bound_evidence", "roofline", "findings", "kernels", "reasons",
                "unknown_metrics", "degraded_reason") if key in answer}
            verdict = verdict_of(self.labels[kernel.name], answer)
            self.say(f"{'ok  ' if verdict['class_right'] and verdict['finding_right'] else 'MISS'} "
                     f"{kernel.name}: {verdict['class']} ({' or '.join(verdict['classes'])}), "
                     f"{verdict['named']} ({verdict['findings']}), against {verdict['contradicted']}")
            self.write()

    def work(self, server, plan):
        while True:
            with self.lock:
                if not plan or time.monotonic() - self.begin > self.given.seconds:
                    break
                kernel = plan.pop(0)
            try:
                self.profile(server, kernel)
            except RuntimeError as failed:
                self.failures[kernel.name] = str(failed)

    def run(self):
        self.label()
        if self.given.build_only:
            return len(self.failures)
        server = server_in(self.given.ratchet, self.root)
        self.where = devices_text(server.call("check_env", {})[0], "cuda")
        plan = [kernel for kernel in self.kernels
                if kernel.name in self.labels and kernel.name not in self.profiles]
        threads = [threading.Thread(target=self.work, args=(server, plan))
                   for _ in range(self.given.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.close()
        self.write()
        print(self.table())
        return len(self.failures)

    def write(self):
        found = {"date": self.date, "device": self.where, "labels": self.labels,
                 "profiles": self.profiles, "failures": self.failures}
        for name, text in (("labels-cuda.json", json.dumps(found, ensure_ascii=False) + "\n"),
                           ("cuda-labels.json", self.records()), ("labels-cuda.md", self.table())):
            whole = self.given.out / f"{name}.new"
            whole.write_text(text, encoding="utf-8")
            whole.replace(self.given.out / name)

    def records(self):
        """What the test that repeats the diagnosis needs: a line for each counted kernel of which a cause is
        established or contradicted."""
        lines = []
        for kernel in self.kernels:
            label, profile = self.labels.get(kernel.name), self.profiles.get(kernel.name)
            if label is None or profile is None or not counted(profile):
                continue
            truth = truth_of(label)
            if truth["causes"] or truth["against"]:
                record = {"half": kernel.half, **truth, "median_ns": profile["timing"]["median_ns"],
                          "dtypes": sorted({tensor["dtype"] for tensor in kernel.tensors}),
                          "kernels": profile["kernels"]}
                lines.append(f" {json.dumps(kernel.name)}: {json.dumps(record)}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def table(self):
        lines = ["# CUDA kernels labeled by intervention", "",
                 f"Command: `tests/gpu/labels.sh`. Device: {self.where}. Date: {self.date}. Times: "
                 "µs per call on cold caches; saved: median and 95 % interval of paired rounds.", ""]
        for half in HALVES:
            kernels = [kernel for kernel in self.kernels if kernel.half == half]
            if kernels:
                lines += [f"## {half}", "", *self.half(kernels), ""]
        return "\n".join(lines + self.not_diagnosed()) + "\n"

    def half(self, kernels):
        rows, verdicts, outcomes = [], [], []
        for kernel in kernels:
            label, profile = self.labels.get(kernel.name), self.profiles.get(kernel.name)
            if label is None:
                continue
            measured = "; ".join(f"{name} {100 * c['saved'][0]:.0f} % ({100 * c['saved'][1]:.0f}.."
                                 f"{100 * c['saved'][2]:.0f})" for name, c in label["causes"].items())
            row = f"| {kernel.name} | {label['seconds'][0]:.4g} | {measured} | "
            if profile is None or not counted(profile):
                rows.append(row + f"— | {'not profiled' if profile is None else 'no counters'} | — | — |")
                continue
            verdict = verdict_of(label, profile)
            verdicts.append(verdict)
            outcomes += [(kernel.name, *one) for one in outcomes_of(label, profile)]
            marks = ["" if not verdict["decided"] else " ✓" if right else " ✗"
                     for right in (verdict["class_right"], verdict["finding_right"])]
            rows.append(row + f"{' or '.join(verdict['classes']) or 'undecided'} | {verdict['class']}"
                        f"{marks[0]} | {', '.join(verdict['named']) or 'none'}{marks[1]} | "
                        f"{', '.join(verdict['contradicted']) or '—'} |")
        counts = collections.Counter(right for *_, right in outcomes)
        said = [f"`verify`: {counts[True]} outcomes as the label, {counts[False]} against it, "
                f"{counts[None]} of which no label speaks: "
                + ", ".join(f"{kernel} {name} {outcome}{'' if right is None else ' ✓' if right else ' ✗'}"
                            for kernel, name, outcome, right in outcomes), ""] if outcomes else []
        return [*rows_of_matrix(verdicts), "", *said, "| kernel | µs | saved without | right classes | class | "
                "findings | contradicted |", "|---|---|---|---|---|---|---|", *rows]

    def not_diagnosed(self):
        return [f"Not diagnosed: {name}: {text[:200]}" for name, text in self.failures.items()]


def counted(profile):
    throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    return any(throughput in kernel["metrics"] for kernel in profile["kernels"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--build-only", metavar="ARCH")
    parser.add_argument("--labels", type=pathlib.Path)
    parser.add_argument("--after", type=pathlib.Path)
    given = parser.parse_intermixed_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        return min(Suite(given, pathlib.Path(temporary)).run(), 99)


if __name__ == "__main__":
    sys.exit(main())
