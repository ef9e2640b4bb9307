#!/usr/bin/env python3
"""A reference that serves one check after the other, and one that an infinity breaks without a word.

    tests/gpu/reference_checks.py RATCHET OUT [BRANCHES]

Explores branches of examples/gemm_bf16 at 1024 x 1024 x 1024. Each check ends with infinite inputs and NaN, to which
the first reference answers as it should; the second answers everything wrong from then on. All branches are right, so
all have to pass: the first reference's process may stay from check to check, the second's must not. A table goes to
OUT/reference.md, with the processes that each exploration started. Changes no setting of the GPU.
"""

import json
import pathlib
import sys
import tempfile
import threading
import time

from table import Table

import labs

FOLDER = labs.ROOT / "examples/gemm_bf16"
CHANGED = [one for one in labs.GPU if one[1]]  # branches with a constant changed, all of them different programs
BREAKS = (("__global__ void product", "__device__ int broken;\n\n__global__ void product"),
          ("    sum += partial;\n", "    if (!isfinite(partial)) broken = 1;\n    sum += partial;\n"),
          ("static_cast<float>(sum)", "static_cast<float>(sum) + 8 * broken"))


class Watched:
    """The workers of a server that are seen while it is entered, by the role that they were started for."""

    def __init__(self, server):
        self.server, self.seen, self.ended = server, {}, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.ended.wait(0.01):
            for pid in self.server.children():
                try:
                    command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if command[0].endswith(b"ratchet-worker-cuda") and len(command) > 1:
                    self.seen[pid] = command[1].decode()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def text(self):
        roles = sorted(set(self.seen.values()))
        return ", ".join(f"{list(self.seen.values()).count(role)} as {role}" for role in roles)


def explored(client, here, reference, sources):
    """Branches of examples/gemm_bf16 at small sizes against this reference: by name its status and the codes of its
    reasons; and the workers seen."""
    plan = json.loads((FOLDER / "plan.json").read_text(encoding="utf-8"))
    here.mkdir()
    (here / "ref.cu").write_text(reference, encoding="utf-8")
    given = {**plan["create_run"], "dims": {"m": 1024, "n": 1024, "k": 1024}, "reference": str(here / "ref.cu")}
    run = labs.Run(client, {**plan, "create_run": given}, FOLDER, here / "run", None, branches=16)
    del run.more["lab"]
    run.begin("v1_mma.cu")
    run.ready(plan["versions"][1])
    with Watched(client.server) as workers:
        answer = client.call("explore_branches", {"run": run.run, "branches": sources, "wait_s": 120})
    return {one["name"]: [one["status"], *(reason["code"] for reason in one["reasons"])]
            for one in answer["branches"]}, workers


def main():
    ratchet, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    right = (FOLDER / "ref.cu").read_text(encoding="utf-8")
    broken = right
    for old, new in BREAKS:
        if old not in broken:
            raise SystemExit(f"ref.cu has no {old!r}")
        broken = broken.replace(old, new)
    out.mkdir(parents=True, exist_ok=True)
    table = Table()
    with tempfile.TemporaryDirectory() as place:
        client = labs.served(ratchet, place, FOLDER)
        for name, text in (("a reference that stays right", right), ("one that an infinity breaks", broken)):
            sources = [{"source": labs.variant(FOLDER, *one), "note": one[2]} for one in CHANGED[:count]]
            try:
                begin = time.monotonic()
                states, workers = explored(client, pathlib.Path(place) / name.replace(" ", "-"), text, sources)
                table.row(f"{name}: all branches pass", states,
                          all(len(state) == 1 for state in states.values()))
                table.row(f"{name}: {len(states)} branches", f"{time.monotonic() - begin:.2f} s; workers seen: "
                          f"{workers.text()}", None)
            except labs.drive.Refused as refused:
                table.row(name, refused, False)
        client.close()
    return table.write(str(out), "reference.md", "References that serve several checks", "tests/gpu/reference_checks.py")


if __name__ == "__main__":
    sys.exit(main())
