"""The tools that analyze a version, on a run that the demo made on a GPU.

    analysis_checks.py RATCHET       the program; its state folder is in XDG_STATE_HOME
"""

import json
import subprocess
import sys
import time


def call(program, tool, **arguments):
    start = time.monotonic()
    done = subprocess.run([program, "call", tool, json.dumps(arguments), "--json"], capture_output=True,
                          text=True, timeout=120, check=False)
    try:
        return json.loads(done.stdout), time.monotonic() - start
    except ValueError:
        return {"error": (done.stdout + done.stderr)[-400:]}, time.monotonic() - start


def main():
    program = sys.argv[1]
    runs, _ = call(program, "list_runs")
    if not runs.get("runs"):
        print("no run: make one with `ratchet demo`", runs)
        return
    run = runs["runs"][0]["run"]
    print("run", run)
    for version in ("v0", "v1", "v2"):
        page, seconds = call(program, "disassemble", run=run, version=version)
        print(version, f"disassemble {seconds:.2f} s", page.get("disassembler", page),
              [(f["name"], f["instructions"], f["loops"], f["spill_loads"], f["widths"])
               for f in page.get("functions", [])])
        print("   ", "\n    ".join(page.get("text", "").splitlines()[20:28]))
        checked, seconds = call(program, "check_sass", run=run, version=version)
        print(version, f"check_sass {seconds:.2f} s",
              {m["id"]: m["verdict"] for m in checked.get("methods", [])} or checked)
        placed, seconds = call(program, "roofline", run=run, version=version)
        report = placed.get("roofline", placed)
        print(version, f"roofline {seconds:.2f} s", json.dumps(report)[:1400])
    compared, seconds = call(program, "compare_versions", run=run, a="v1", b="v2")
    print(f"compare {seconds:.2f} s", json.dumps(compared)[:1800])


if __name__ == "__main__":
    main()
