#!/usr/bin/env python3
"""Profiles the kernels of kernels.py through a server, compares its diagnosis with labels.json and writes
what was counted, for the test that repeats the diagnosis.

    tests/labels/run.py RATCHET OUT [NAME...]

Writes OUT/host-labels.json (metrics and diagnosis) and OUT/host-labels.md (the table).
"""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "attacks"), str(HERE)]
from client import Server  # noqa: E402
from kernels import KERNELS, source_of  # noqa: E402


def request_of(entry, folder):
    task, kernel = entry["task"], entry["kernel"]
    text = source_of(kernel, task)
    # The reference only has to have the same answer: the kernel itself.
    reference = text.replace("def run_kernel", "def reference").replace("void solve(", "void reference(")
    if isinstance(kernel, str):
        reference = REFERENCE
    tensors = [{"name": part[0], "dtype": part[1], "shape": part[2].split(","), "role": part[3],
                **({"init": part[4]} if len(part) > 4 else {})} for part in task["tensors"]]
    return {"kernel": {"text": text}, "reference": {"text": reference}, "dims": task["dims"],
            "tensors": tensors, "output_dir": str(folder),
            "implementation": "host-python" if isinstance(kernel, str) else "host-cpp"}


REFERENCE = "def reference(x, **_):\n    return x * 2.0 + 1.0\n"
ROOT_REFERENCE = "import numpy as np\n\n\ndef reference(x, **_):\n    return np.sqrt(x * x + 1.0) * 2.0 + x\n"


def profile_of(server, entry, folder):
    request = request_of(entry, folder)
    if isinstance(entry["kernel"], str) and "sqrt" in entry["kernel"]:
        request["reference"] = {"text": ROOT_REFERENCE}
    created, refused = server.call("create_run", {**request, "wait_s": 120})
    if refused is not None:
        return None, refused
    for tool in ("check_correctness", "profile_kernel"):
        answer, refused = server.call(tool, {"run": created["run"], "wait_s": 600})
        if refused is not None:
            return None, refused
    return answer, None


def verdict_of(label, bound, findings):
    """Whether class and first finding are right, and the findings that an intervention contradicts."""
    # That neighbors hold the cores is said about the times, not about the kernel.
    advice = [name for name in findings if name != "host-neighbors"]
    first = advice[0] if advice else None
    right = first in label["right"] if label["right"] else first is None
    return bound in label["bound"], right, [name for name in findings if name in label["wrong"]]


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    labels = json.loads((HERE / "labels.json").read_text())
    recorded = {}
    with tempfile.TemporaryDirectory() as temporary:
        server = Server([ratchet, "serve", "--state-dir", temporary + "/state", "--root", temporary,
                         "--no-builtin-kbs"])
        for name, entry in KERNELS.items():
            if sys.argv[3:] and name not in sys.argv[3:]:
                continue
            answer, refused = profile_of(server, entry, pathlib.Path(temporary) / name)
            if refused is not None:
                print(name, "refused:", refused, flush=True)
                continue
            found = recorded[name] = record_of(answer)
            print(name, found["bound"], found["findings"], verdict_of(labels[name], found["bound"],
                                                                       found["findings"]), flush=True)
        del server
    out.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items())
    (out / "host-labels.json").write_text("{\n" + lines + "\n}\n")
    (out / "host-labels.md").write_text(table_of(labels, recorded))


def record_of(answer):
    return {"median_ns": answer["timing"]["median_ns"], "bound": answer["bound"],
            "evidence": answer["bound_evidence"], "roofline": answer["roofline"],
            "findings": [one["id"].removeprefix("pattern-") for one in answer["findings"]],
            "metrics": answer["kernels"][0]["metrics"] if answer["kernels"] else {}}


def table_of(labels, recorded):
    rows, right_bounds, right_findings, wrong = [], 0, 0, 0
    for name, found in recorded.items():
        label = labels[name]
        bound, finding, against = verdict_of(label, found["bound"], found["findings"])
        right_bounds, right_findings, wrong = (right_bounds + bound, right_findings + finding,
                                               wrong + len(against))
        rows.append(f"| {name} | {' or '.join(label['bound'])} | {found['bound']} | "
                    f"{', '.join(label['right']) or 'none'} | {', '.join(found['findings']) or 'none'} | "
                    f"{', '.join(against) or '—'} |")
    return ("| kernel | true class | class | right findings | findings | contradicted |\n"
            "|---|---|---|---|---|---|\n" + "\n".join(rows) +
            f"\n\n{right_bounds} of {len(recorded)} classes and {right_findings} of {len(recorded)} first "
            f"findings are right; {wrong} findings are contradicted by an intervention.\n")


if __name__ == "__main__":
    main()
