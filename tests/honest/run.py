#!/usr/bin/env python3
"""Sends honest kernels, as they are written in public practice, to one running server beside torch
references with the tolerances that authors usually give, and counts what is refused.

    tests/honest/run.py RATCHET OUT [ROUNDS [NAME...]]

RATCHET_PYTHON names a Python with torch. Every round checks every kernel once with new secrets.
Writes OUT/honest-host.md. The exit status is the number of refusals.
"""

import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
sys.path.insert(0, str(HERE))
from client import Server  # noqa: E402
from kernels import KERNELS, TASKS  # noqa: E402


def request_of(name, folder):
    task_name, kernel = KERNELS[name]
    task = TASKS[task_name]
    tensors = [{"name": part[0], "dtype": part[1], "shape": part[2].split(","), "role": part[3],
                **({"init": part[4]} if len(part) > 4 else {})} for part in task["tensors"]]
    python = "def run_kernel" in kernel
    given = {key: task[key] for key in ("atol", "rtol") if key in task}
    return {"kernel": {"text": kernel}, "reference": {"text": "import torch\n" + task["reference"]},
            "implementation": "host-python" if python else "host-cpp", "dims": task["dims"],
            "tensors": tensors, "output_dir": str(folder), **given}


def refusal(server, name, folder):
    """What was refused and why; empty for a passing kernel."""
    created, refused = server.call("create_run", request_of(name, folder))
    if refused is not None:
        return refused
    checked, refused = server.call("check_correctness", {"run": created["run"]})
    if refused is not None:
        return refused
    return "" if checked["passed"] else "; ".join(
        f"{reason['code']}: {reason['message']}" for reason in checked["reasons"])


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    names = [name for name in KERNELS if not sys.argv[4:] or name in sys.argv[4:]]
    out.mkdir(parents=True, exist_ok=True)
    refused = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        server = Server([ratchet, "serve", "--state-dir", str(root / "state"), "--root", temporary,
                         "--no-builtin-kbs"])
        for round_number in range(rounds):
            for name in names:
                begin = time.monotonic()
                why = refusal(server, name, root / f"{name}-{round_number}")
                if why:
                    refused[name].append(why)
                print(f"{'FAIL' if why else 'ok  '} {name} {time.monotonic() - begin:.1f} s {why}",
                      flush=True)
        server.close()
    total = sum(len(whys) for whys in refused.values())
    lines = ["# Honest kernels on host", "",
             f"{len(names)} kernels, {rounds} rounds: {total} refused of {len(names) * rounds}.", "",
             "| kernel | task | refused | first reason |", "|---|---|---|---|"]
    for name in names:
        whys = refused[name]
        lines.append(f"| {name} | {KERNELS[name][0]} | {len(whys)} | {whys[0][:200] if whys else ''} |")
    (out / "honest-host.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(names) * rounds} checks, {total} refused")
    return min(total, 99)


if __name__ == "__main__":
    sys.exit(main())
