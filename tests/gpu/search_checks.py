#!/usr/bin/env python3
"""Searches for bad values, roofs by size and unit, and the energy of a call, on a GPU; about 25 s.

    tests/gpu/search_checks.py RATCHET

Prints a line for each check; the exit status is the number of those that failed.
"""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attacks"))
from client import Server  # noqa: E402
from run import HERE, task_of  # noqa: E402

failed = 0


def check(what, good, seen=""):
    global failed
    failed += not good
    print(f"{'ok  ' if good else 'FAIL'} {what}: {str(seen)[:400]}", flush=True)


def main():
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        server = Server([sys.argv[1], "serve", "--state-dir", folder + "/state", "--root", folder,
                         "--job-deadline", "5", "--no-builtin-kbs"])

        def call(tool, **arguments):
            answer, refused = server.call(tool, arguments)
            if refused is not None:
                check(tool, False, refused)
            return answer or {}

        def start(kernel, n):
            text = (HERE / "cuda" / (kernel + ".cu")).read_text(encoding="utf-8")
            task = {**task_of("double", "cuda"), "dims": {"n": n}}
            return call("create_run", **task, kernel={"text": text},
                        output_dir=f"{folder}/{kernel}{n}").get("run")

        for kernel, honest in (("honest_sparse_exit", True), ("skips_sparse_values", False)):
            run = start(kernel, 1 << 22)
            found = call("check_correctness", run=run, search=2)
            search = found.get("search", {})
            check(f"search: {kernel}", found.get("passed") == honest and
                  bool(search.get("kept")) != honest and search.get("tried", 0) > 0, search)
        roofs = {one["what"]: one["value"]
                 for one in call("measure_ceilings", kind="cuda").get("ceilings", [])}
        shown = {name: f"{value:.4g}" for name, value in roofs.items()}
        for name in ("fp16_pairs", "bf16_of_zeros", "cold_copy_128MiB", "sm_clock_bf16"):
            check(f"roof {name}", roofs.get(name, 0) > 0, shown.get(name))
        check("zeros clock no lower", roofs.get("bf16_of_zeros", 0) > 0.98 * roofs.get("bf16", 1),
              shown)
        run = start("honest_plain", 1 << 26)
        call("check_correctness", run=run)
        call("profile_kernel", run=run, metrics="lean")
        notes = call("benchmark", run=run, num_trials=10).get("notes", [])
        energy = [note for note in notes if "energy" in note]
        check("energy of a call", any(" mJ a call" in note for note in energy), energy)
        server.close()
    print(f"{failed} failed, {time.monotonic() - begin:.0f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
