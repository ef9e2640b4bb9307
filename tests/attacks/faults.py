#!/usr/bin/env python3
"""Random kernel faults in a row against one running server with a job deadline of one second.

    tests/attacks/faults.py RATCHET cuda|host COUNT OUT [SEED]

After each fault the server must answer and no process of the kernel may be left. At the end an
honest kernel must pass, and the server's memory must not have grown since the first tenth. Writes
OUT/faults-DEVICE.md.
"""

import collections
import datetime
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server  # noqa: E402
from run import task_of  # noqa: E402

MOST_GROWTH = 16 << 20  # of the server's resident memory
RAW = ("static void raw(long number, long a) {\n"
       "  asm volatile(\"syscall\" : : \"a\"(number), \"D\"(a) : \"rcx\", \"r11\", \"memory\");\n"
       "}\n")
HONEST_HOST = "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"

HOST = {
    "crash": ("", "  *(volatile float*)8 = x[0];\n"),
    "abort": ("#include <cstdlib>\n", "  abort();\n"),
    "division by zero": ("", "  volatile int zero = 0;\n  y[0] = static_cast<float>(n / zero);\n"),
    "stack overflow": ("static int deep(volatile int* p) {\n  volatile int a[4096];\n  a[0] = *p;\n"
                       "  return deep(a) + a[0];\n}\n", "  volatile int a = n;\n  y[0] = deep(&a);\n"),
    "hang": ("", "  volatile int spin = 1;\n  while (spin) {\n  }\n"),
    "exit": (RAW, "  raw(231, 0);\n"),
    "fork storm": (RAW, "  for (int i = 0; i < 64; ++i) raw(57, 0);\n"),
    "memory hog": ("#include <cstring>\n",
                   "  for (;;) std::memset(new char[1 << 26], 1, 1 << 26);\n"),
    "output flood": ("#include <cstdio>\n",
                     "  for (;;) std::printf(\"a line of nothing, number %d\\n\", n);\n"),
    "write beyond": ("", HONEST_HOST + "  for (int i = 0; i < 1 << 28; ++i) y[i] = 0;\n"),
    "forged answer": ("", HONEST_HOST +
                      "  long r = 1;\n  asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(3L), \"S\"(x), "
                      "\"d\"(64L) : \"rcx\", \"r11\", \"memory\");\n"),
    "wrong answer": ("", "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i];\n"),
}

ONE = "__global__ void one(const float* x, float* y, int n) {\n%s}\n"
CUDA = {
    "device assert": ("#include <cassert>\n" + ONE % "  assert(n < 0);\n", "  one<<<1, 32>>>(x, y, n);\n"),
    "illegal address": (ONE % "  *(float*)(8 + n) = x[0];\n", "  one<<<1, 32>>>(x, y, n);\n"),
    "misaligned": (ONE % "  *(double*)((char*)y + 1) = x[0];\n", "  one<<<1, 1>>>(x, y, n);\n"),
    "trap": (ONE % "  __trap();\n", "  one<<<1, 32>>>(x, y, n);\n"),
    "endless kernel": (ONE % "  while (((volatile const float*)x)[0] != 1e30f) {\n  }\n",
                       "  one<<<264, 256>>>(x, y, n);\n"),
    "refused launch": (ONE % "  y[0] = x[0];\n", "  one<<<1, 4096>>>(x, y, n);\n"),
    "device memory hog": ("", "  void* p;\n  while (cudaMalloc(&p, 1ull << 30) == cudaSuccess) {\n"
                          "    cudaMemset(p, 1, 1ull << 30);\n  }\n"),
    "host crash": ("", "  *(volatile float*)8 = 1;\n"),
    "host hang": ("", "  volatile int spin = 1;\n  while (spin) {\n  }\n"),
    "exit": (RAW, "  raw(231, 0);\n"),
    "fork storm": (RAW, "  for (int i = 0; i < 64; ++i) raw(57, 0);\n"),
    "host memory hog": ("#include <cstring>\n",
                        "  for (;;) std::memset(new char[1 << 26], 1, 1 << 26);\n"),
    "output flood": ("#include <cstdio>\n",
                     "  for (;;) std::printf(\"a line of nothing, number %d\\n\", n);\n"),
    "wrong answer": (ONE % "  y[0] = 0;\n", "  one<<<1, 1>>>(x, y, n);\n"),
}
HONEST = {
    "host": ("", HONEST_HOST),
    "cuda": (ONE % ("  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) y[i] = 2 * x[i];\n"), "  one<<<(n + 255) / 256, 256>>>(x, y, n);\n"),
}


def source(parts):
    preamble, body = parts
    return (preamble + 'extern "C" void solve(const float* x, float* y, int n) {\n'
            + "  (void)x;\n  (void)y;\n  (void)n;\n" + body + "}\n")


class Storm:
    def __init__(self, server, device, folder):
        self.server, self.device, self.folder = server, device, folder
        self.runs, self.left_over, self.unexpected = 0, [], []
        self.kinds = collections.Counter()

    def check(self, text):
        """The reasons of one kernel's check, in a new run, and None; or None and the error's text."""
        self.runs += 1
        created, refused = self.server.call("create_run", {
            **task_of("double", self.device), "dims": {"n": 4096}, "kernel": {"text": text},
            "output_dir": str(self.folder / f"run{self.runs}")})
        if refused is not None:
            return None, refused
        checked, refused = self.server.call("check_correctness", {"run": created["run"]})
        if refused is not None:
            return None, refused
        return [reason["code"] for reason in checked["reasons"]], None

    def fault(self, name, parts):
        reasons, refused = self.check(source(parts))
        for reason in reasons or ["refused"]:
            self.kinds[f"{name}: {reason}"] += 1
        if refused is not None or not reasons:
            self.unexpected.append(f"{name}: {refused or 'passed'}")
        left = self.server.strays()
        if left:
            self.left_over.append(f"{name}: {left}")


def main():
    ratchet, device, count, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 30)
    draw = random.Random(seed)
    kinds = {"host": HOST, "cuda": CUDA}[device]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = Server([ratchet, "serve", "--state-dir", folder + "/state", "--root", folder,
                         "--job-deadline", "1", "--no-builtin-kbs"])
        storm = Storm(server, device, pathlib.Path(folder))
        begin, early = time.monotonic(), 0
        for i in range(count):
            name = draw.choice(sorted(kinds))
            storm.fault(name, kinds[name])
            if i == count // 10:
                early = server.resident_bytes()
        seconds = time.monotonic() - begin
        late = server.resident_bytes()
        reasons, refused = storm.check(source(HONEST[device]))
        alive, left = server.alive(), server.strays()
        server.close()
    growth = late - early
    good = (alive and not left and not storm.left_over and not storm.unexpected
            and reasons == [] and growth < MOST_GROWTH)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    lines = [f"# {count} kernel faults on {device}", "",
             f"Command: `tests/attacks/faults.py … {device} {count} …`, seed {seed}, job deadline 1 s. "
             f"Date: {now}.", "",
             f"- {seconds:.0f} s, {seconds / max(count, 1):.2f} s each, including build and validation",
             f"- server up: {alive}; an honest kernel afterwards: {reasons if refused is None else refused} "
             "(no reasons: passed)",
             f"- processes left: {left or 'none'}; after single faults: {storm.left_over or 'none'}",
             f"- resident memory of the server: {early >> 10} KiB after a tenth, {late >> 10} KiB in the end",
             f"- undetected faults: {storm.unexpected[:5] or 'none'}",
             f"- verdict: {'as expected' if good else 'NOT as expected'}", "",
             "| fault: reason | times |", "|---|---|"]
    lines += [f"| {name} | {times} |" for name, times in sorted(storm.kinds.items())]
    (out / f"faults-{device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
