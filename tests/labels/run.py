#!/usr/bin/env python3
"""Profiles labeled host kernels through a server, with `verify`, and holds its diagnosis against the labels.

    tests/labels/run.py RATCHET OUT [--kernels FILE --labels FILE] [NAME...]

FILE: a module with KERNELS like those of kernels.py, by somebody who has read no rule, and what
intervene.py measured of them. The diagnosis of such kernels counts once: an earlier answer in OUT is
kept.

Writes OUT/host-labels.json (metrics and diagnosis), which a test replays, and OUT/host-labels.md (the
table); of host_blind.py, OUT/host-blind.json and .md. The exit status is the number of kernels without
a diagnosis.
"""

import argparse
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from kernels import kernels_of, source_of  # noqa: E402
from profiles import name_of, profile_of, server_in  # noqa: E402
from scores import rows_of_matrix  # noqa: E402

# That neighbors hold the cores is said about the times, not about the kernel.
NOT_ABOUT_THE_KERNEL = "host-neighbors"


def request_of(entry, folder):
    task, kernel = entry["task"], entry["kernel"]
    text = source_of(kernel, task)
    # The reference only has to have the same answer: the kernel itself.
    reference = text.replace("def run_kernel", "def reference").replace("void solve(", "void reference(")
    tensors = [{"name": part[0], "dtype": part[1], "shape": part[2].split(","), "role": part[3],
                **({"init": part[4]} if len(part) > 4 else {})} for part in task["tensors"]]
    return {"kernel": {"text": text}, "reference": {"text": reference}, "dims": task["dims"],
            "tensors": tensors, "output_dir": str(folder),
            "implementation": "host-python" if isinstance(kernel, str) else "host-cpp"}


def record_of(answer):
    return {"median_ns": answer["timing"]["median_ns"], "bound": answer["bound"],
            "evidence": answer["bound_evidence"], "roofline": answer["roofline"],
            "findings": [name_of(one) for one in answer["findings"]],
            "outcomes": {name_of(one): [one["outcome"], one["intervention"]]
                         for one in answer["findings"] if "outcome" in one},
            "metrics": answer["kernels"][0]["metrics"] if answer["kernels"] else {}}


def verdict_of(label, record):
    named = [name for name in record["findings"] if name != NOT_ABOUT_THE_KERNEL]
    right = set(label["right"])
    return {"decided": True, "classes": label["bound"], "class": record["bound"], "named": named,
            "class_right": record["bound"] in label["bound"],
            # Where nothing helps, nothing is the right advice.
            "finding_right": named[0] in right if named and right else not named and not right,
            "finding_in_three": bool(right & set(named[:3])) if right else not named,
            "contradicted": [name for name in named if name in label["wrong"]]}


def agreement(label, name, outcome):
    """Whether the server's intervention says what the label's twin does; None where one is silent."""
    said = {"confirmed": True, "not_confirmed": False}.get(outcome)
    known = True if name in label["right"] else False if name in label["wrong"] else None
    return None if said is None or known is None else said == known


def verified(label, record):
    """What `verify` said about findings that have a twin, with the twin's gain."""
    marks = {True: " ✓", False: " ✗", None: ""}
    return [f"{name} {outcome} (twin {label['gains'][name]:.3g}×){marks[agreement(label, name, outcome)]}"
            for name, (outcome, _) in record["outcomes"].items() if name in label["gains"]]


def table_of(labels, recorded):
    rows, verdicts, agreements = [], [], []
    for name, record in recorded.items():
        label = labels[name]
        verdict = verdict_of(label, record)
        verdicts.append(verdict)
        agreements += [agreement(label, finding, outcome)
                       for finding, (outcome, _) in record["outcomes"].items()]
        marks = [" ✓" if verdict[right] else " ✗" for right in ("class_right", "finding_right")]
        rows.append(f"| {name} | {' or '.join(label['bound'])} | {record['bound']}{marks[0]} | "
                    f"{', '.join(label['right']) or 'none'} | {', '.join(verdict['named']) or 'none'}{marks[1]} | "
                    f"{', '.join(verdict['contradicted']) or '—'} | {'; '.join(verified(label, record)) or '—'} |")
    decided = [one for one in agreements if one is not None]
    return "\n".join([
        *rows_of_matrix(verdicts), "",
        f"Of {len(decided)} findings that `verify` confirms or does not confirm and a label decides, "
        f"{sum(decided)} agree with the label.", "",
        "| kernel | true class | class | right findings | findings | contradicted | verify |",
        "|---|---|---|---|---|---|---|", *rows, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratchet")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--kernels", type=pathlib.Path, default=HERE / "kernels.py")
    parser.add_argument("--labels", type=pathlib.Path, default=HERE / "labels.json")
    given = parser.parse_intermixed_args()
    own = given.kernels.resolve() == HERE / "kernels.py"
    to = given.out / ("host-labels" if own else given.kernels.stem.replace("_", "-"))
    if not own and to.with_suffix(".json").exists():
        parser.error(f"OUT: {to}.json has the first answer about these kernels; another is not blind any more. "
                     "Give an empty folder to see one all the same")
    labels = json.loads(given.labels.read_text(encoding="utf-8"))
    kernels = kernels_of(given.kernels)
    names = given.names or list(kernels)
    unlabeled = [name for name in names if name not in labels]
    if unlabeled:
        parser.error(f"--labels: {given.labels} has no label of {', '.join(unlabeled)}; intervene.py makes them")
    recorded = {}
    with tempfile.TemporaryDirectory() as temporary:
        server = server_in(given.ratchet, temporary)
        for name in names:
            answer, refused = profile_of(server, request_of(kernels[name], f"{temporary}/{name}"), verify=True)
            if refused is not None:
                print(f"FAIL {name}: {refused}", flush=True)
                continue
            recorded[name] = record_of(answer)
            verdict = verdict_of(labels[name], recorded[name])
            print("ok  " if verdict["class_right"] and verdict["finding_right"] else "MISS", name, verdict,
                  *verified(labels[name], recorded[name]), flush=True)
        server.close()
    given.out.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in recorded.items())
    to.with_suffix(".json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    to.with_suffix(".md").write_text(table_of(labels, recorded), encoding="utf-8")
    return len(names) - len(recorded)


if __name__ == "__main__":
    sys.exit(main())
