#!/usr/bin/env python3
"""The cost of one check_correctness as a client sees it: the shipped softmax kernel on 4096 x 4096
floats against references in CUDA and, if torch is installed, in torch.

    tests/attacks/check_time.py RATCHET DATA_DIR OUT [REPEATS]
"""

import datetime
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server  # noqa: E402
from run import task_of  # noqa: E402


def main():
    ratchet, data, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    kernel = (data / "problems" / "softmax" / "cuda-cpp" / "best.cu").read_text(encoding="utf-8")
    torch = (data / "problems" / "softmax" / "ref_torch.py").read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    task = task_of("softmax", "cuda")
    references = {"ref.cu": task["reference"]}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server([ratchet, "serve", "--state-dir", folder + "/state", "--root", folder,
                         "--no-builtin-kbs"])
        info, _ = server.call("check_env", {})
        if any(tool["name"] == "torch" and tool["found"] for tool in info["tools"]):
            references["ref.py with torch"] = {"text": torch}
        for name, reference in references.items():
            for i in range(repeats):
                times = {}

                def timed(tool, arguments):
                    begin = time.monotonic()
                    answer, refused = server.call(tool, arguments)
                    times[tool] = time.monotonic() - begin
                    if refused:
                        raise SystemExit(f"{name}: {refused}")
                    return answer

                created = timed("create_run", {
                    **task, "reference": reference, "dims": {"rows": 4096, "cols": 4096},
                    "kernel": {"text": kernel}, "output_dir": f"{folder}/{name[4:6]}{i}"})
                checked = timed("check_correctness", {"run": created["run"]})
                assert checked["passed"], checked["reasons"]
                if i == repeats - 1:
                    timed("profile_kernel", {"run": created["run"]})
                rows.append((name, len(checked["cases"]), times))
                print(rows[-1], flush=True)
        server.close()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    devices = "; ".join(f"{d['name']}, driver {d.get('driver', '')}" for d in info["devices"])
    lines = ["# Cost of a check", "",
             f"Command: `tests/attacks/check_time.py`. Devices: {devices}. Date: {now}.", "",
             "Softmax of 4096 x 4096 floats, one given and two hidden sizes, 3 seeds, 4 "
             "distributions; seconds at the client. The first row of each reference includes building "
             "it and importing torch.", "",
             "| reference | executions checked | create_run | check_correctness | profile_kernel |",
             "|---|---|---|---|---|"]
    for name, cases, times in rows:
        lines.append(f"| {name} | {cases} | {times['create_run']:.2f} | {times['check_correctness']:.2f} | "
                     f"{times.get('profile_kernel', 0):.2f} |")
    (out / "check-time.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
