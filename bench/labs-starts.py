#!/usr/bin/env python3
"""How much sooner two labs of one host explore branches than one, where processes start as on a GPU: a worker
waits for a third of a second by itself, as for the driver, and then in turn with all others of the host, as for
its context. A stand-in for tests/gpu/labs.py on machines without GPUs: kernels and reference sleep
about as long as those of examples/gemm_bf16 compute on an H200, so that a busy processor hardly matters. How processes end is not
imitated.

    bench/labs-starts.py RATCHET [RATCHET...] [--branches N] [--start S] [--turn S]

Prints a row for each ratchet, such as one before a change and one after, with one lab and with two, until the last
race has timed all once. On a processor it takes far longer to flush the caches before each call of a race.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/gpu"))
import labs  # noqa: E402

V0_MS, BRANCH_MS, REFERENCE_MS = 10, 0.5, 20
# Nothing in a kernel's vocabulary sleeps, so this asks the system itself.
CODE = """extern "C" void {name}(const int* a, const int* b, int* c, int n) {{
  const long pause[2] = {{0, {ns}}};
  long asked = 35;  // nanosleep
  asm volatile("syscall" : "+a"(asked) : "D"(pause), "S"(0L) : "rcx", "r11", "memory");
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}}
"""
WORKER = """#!/bin/sh
sleep {start}
flock {lock} sleep {turn}
exec {worker} "$@"
"""


def code(name, milliseconds):
    return CODE.format(name=name, ns=round(milliseconds * 1e6))


def timed(said, phase):
    """When a phase's first word was said, and when its race's first round was over."""
    begin = next(when for when, text in said if text.startswith(phase))
    return begin, next(when for when, text in said if when > begin and text.startswith("timed"))


class Starts(labs.Checks):
    """One ratchet, whose workers start slowly."""

    def __init__(self, ratchet, options):
        options.ratchet, options.out = ratchet, pathlib.Path(tempfile.mkdtemp(prefix="ratchet-starts-"))
        super().__init__(options)
        self.ratchet = str(self.slow(ratchet.resolve()))
        self.examples = self.folder / "examples"
        self.examples.mkdir()
        task = self.plan["create_run"]
        for one in ("cases", "tensors"):
            task.pop(one)
        task.update(kernel="v0.cpp", reference="ref.cpp", dims={"n": 4096},
                    work={"bytes": "12 * n", "flops": "n"})
        (self.examples / "v0.cpp").write_text(code("solve", V0_MS))
        (self.examples / "ref.cpp").write_text(code("reference", REFERENCE_MS))

    def slow(self, ratchet):
        """A copy of its programs with another worker."""
        programs = self.folder / "bin"
        shutil.copytree(ratchet.parent, programs, ignore=shutil.ignore_patterns("ratchet-tests-*", "bench-*"))
        (self.folder / "share").symlink_to(ratchet.parent.parent / "share")
        lock = self.folder / "driver.lock"
        lock.touch()
        worker = programs / "ratchet-worker"
        worker.unlink()
        worker.write_text(WORKER.format(start=self.options.start, turn=self.options.turn, lock=lock,
                                        worker=ratchet.parent / "ratchet-worker"))
        worker.chmod(0o755)
        return programs / "ratchet"

    def branches(self):
        return [{"source": code("solve", BRANCH_MS + i / 100)} for i in range(self.options.branches)]

    def row(self, name, value, passed):
        print(f"  {name}: {value}{'' if passed in (None, True) else ' FAILED'}", file=sys.stderr, flush=True)

    def save(self):
        return 0

    def play(self):
        for count in (1, 2):
            client = self.serve(count)
            run = self.opened(client, count)
            self.build(client, run)
            self.explore(client, run, count)
            client.close()
        return {one["labs"]: one for one in self.found["explorations"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratchets", type=pathlib.Path, nargs="+")
    parser.add_argument("--branches", type=int, default=12, choices=range(4, 17))
    parser.add_argument("--start", type=float, default=0.3)
    parser.add_argument("--turn", type=float, default=0.13)
    options = parser.parse_args()
    options.processor, options.kernel = True, None
    print("| ratchet | labs | until a lab has no more to check, s | its screening until its first round, s "
          "| the last race until its first, s | until then, s | two against one |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for ratchet in options.ratchets:
        one = None
        for count, fact in Starts(ratchet, options).play().items():
            (screens, first), (races, last) = (timed(fact["said"], phase) for phase in ("screening", "confirming"))
            one = one or last
            ratio = f"{last / one:.2f}" if count == 2 else ""
            print(f"| {ratchet} | {count} | {screens:.1f} | {first - screens:.1f} | {last - races:.1f} | {last:.1f} "
                  f"| {ratio} |", flush=True)


if __name__ == "__main__":
    main()
