#!/usr/bin/env python3
"""Runs the wiki's processor code through the server: every step of every file against its reference, at
the sizes that the judge adds (odd, prime, tiny), in its poisoned buffers.

    tests/kbs/code/run.py RATCHET CONTENT [--measure ROUNDS] [NAME...]

CONTENT is kbs/content. With --measure the steps are also timed, in turn, and the medians are written
into the files' headers with device and date. The exit status is the number of refused steps.
"""

import datetime
import json
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "attacks"))
from client import Server  # noqa: E402


def value_of(text):
    """A flow value of the header's YAML, whose bare words are strings."""
    def quoted(word):
        return word[0] if word[0][0] == '"' or word[0] in ("true", "false") else f'"{word[0]}"'
    return json.loads(re.sub(r'"[^"]*"|[A-Za-z_][\w.-]*', quoted, text))


class Code:
    """A file of the wiki's code, with the task of its header."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.sign = "# " if path.suffix == ".py" else "// "
        lines = [line.removeprefix(self.sign) for line in self.text.split("\n")]
        self.header = lines[1:lines.index("---", 1)]
        self.on_processor = "architectures: [x86-64]" in self.header
        self.task = {"tensors": []}
        for line in self.header[self.header.index("task:") + 1:] if "task:" in self.header else []:
            if line.startswith("    - "):
                self.task["tensors"].append(value_of(line[6:]))
            elif found := re.match(r"  (\w+): (.+)", line):
                self.task[found[1]] = value_of(found[2])

    def step(self, number):
        if self.path.suffix == ".py":
            return re.sub(r"^STEP = \d+$", f"STEP = {number}", self.text, flags=re.M)
        return f"#define STEP {number}\n{self.text}"

    def request(self, number, folder, measured):
        # The sizes of the measurement would only make a check slow.
        dims = {name: size if measured else min(size, 300) for name, size in self.task["dims"].items()}
        return {"kernel": {"text": self.step(number)}, "reference": {"text": self.text},
                "implementation": "host-python" if self.path.suffix == ".py" else "host-cpp",
                "dims": dims, "tensors": self.task["tensors"], "work": self.task["work"],
                "any_size": True, "output_dir": str(folder), **self.task.get("tolerance", {})}

    def header_is(self, name, value):
        """Sets a word of the header."""
        self.text = re.sub(rf"^{self.sign}{name}: .*$", f"{self.sign}{name}: {value}", self.text, count=1, flags=re.M)

    def measured_on(self, where):
        """The device that search results show beside the code."""
        line = re.compile(rf"^({self.sign}code_evidence: .*)(\n{self.sign}measured_on: .*)?$", re.M)
        self.text = line.sub(lambda m: f'{m[1]}\n{self.sign}measured_on: "{where}"', self.text, count=1)

    def write(self, rows):
        """Puts the measured rows where the header ends, in place of earlier ones."""
        begin, rest = self.text.split(f"\n{self.sign}---\n", 1)
        begin = re.sub(rf"\n{self.sign}measured:(\n{self.sign}  - .*)*", "", begin)
        measured = "".join(f"\n{self.sign}  - {row}" for row in rows)
        self.path.write_text(f"{begin}\n{self.sign}measured:{measured}\n{self.sign}---\n{rest}",
                             encoding="utf-8")


def device():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.findall(r"model name\s*:\s*(.+)", file.read())
    return f"{found[0]}, {len(found)} cores"


def main():
    arguments = sys.argv[1:]
    rounds = 0
    if "--measure" in arguments:
        at = arguments.index("--measure")
        rounds = int(arguments[at + 1])
        del arguments[at:at + 2]
    ratchet, content, names = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    files = [Code(path) for path in sorted((content / "code").iterdir())]
    files = [code for code in files if code.on_processor and (not names or code.path.stem in names)]
    refused = 0
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        server = Server([ratchet, "serve", "--state-dir", str(root / "state"), "--root", temporary,
                         "--no-builtin-kbs"])
        for code in files:
            # Steps with threads are checked; their time on shared cores would be the scheduler's.
            times = {step: [] for step in range(code.task["timed" if rounds else "steps"])}
            for turn in range(max(rounds, 1)):
                for step, found in times.items():
                    folder = root / f"{code.path.stem}-{step}-{turn}"
                    created, why = server.call("create_run", code.request(step, folder, rounds > 0))
                    if why is None:
                        checked, why = server.call("check_correctness", {"run": created["run"]})
                    if why is None and not checked["passed"]:
                        why = "; ".join(f"{reason['code']}: {reason['message']}" for reason in checked["reasons"])
                    if why is None and rounds:
                        profile, why = server.call("profile_kernel", {"run": created["run"]})
                        if why is None:
                            found.append(profile["timing"]["median_ns"] / 1e6)
                    refused += why is not None
                    print(f"{'FAIL' if why else 'ok  '} {code.path.name} v{step} {found[-1:] or ''} {why or ''}",
                          flush=True)
            if rounds and all(times.values()):
                medians = {step: statistics.median(found) for step, found in times.items()}
                code.measured_on(device())
                code.write([f'{{step: v{step}, ms: {ms:.3g}, times_v0: {medians[0] / ms:.3g}, '
                            f'device: "{device()}", date: {datetime.date.today()}}}'
                            for step, ms in medians.items()])
        server.close()
    return min(refused, 99)


if __name__ == "__main__":
    sys.exit(main())
