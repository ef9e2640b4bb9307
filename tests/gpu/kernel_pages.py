#!/usr/bin/env python3
"""Measures the wiki's GPU code through the server: each step of each file of kbs/content/code that has
a task is checked at its sizes and those that the judge draws (odd, prime, tiny), in poisoned buffers,
then profiled and compared with a library at equal precision.

    tests/gpu/kernel_pages.py RATCHET [--again] [--out FOLDER] [NAME...]     on a machine with a GPU
    tests/gpu/kernel_pages.py --write FILE                                   anywhere

The first form takes the kernels in the order of their names, as given, and builds the next while one is
measured. It writes kernel_pages.json into FOLDER ($OUT, or tests/gpu/results) after every kernel, so
that an interrupted run goes on; what tests/gpu/results or FOLDER has of the same code is kept, unless
--again. References and libraries: tests/gpu/pages/NAME.py. The second form puts the figures of such a
file into the code's headers and the ladders of the pages. Needs torch (and Triton for .py) in the
python3 of PATH or RATCHET_PYTHON. Changes no setting of the GPU. The exit status is the number of refused kernels.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import re
import runpy
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/kbs/code"), str(ROOT / "tests/attacks")]
from client import Server, devices_text  # noqa: E402
from run import Code  # noqa: E402

CONTENT, REFERENCES = ROOT / "kbs/content", ROOT / "tests/gpu/pages"
RESULTS = ROOT / "tests/gpu/results/kernel_pages.json"
WAIT_S = 300
# The counters of a profile's signature, as shares of a peak or as counts.
SIGNATURE = ("sm__throughput", "dram__throughput", "lts__throughput", "pipe_tensor", "warps_active",
             "l1tex__data_bank_conflicts", "stall")
OPCODES = re.compile(r"^(HGMMA|QGMMA|HMMA|UTMA|LDGSTS|LDSM|STSM|LDG|STG|ATOM|RED|MATCH|SHFL|MUFU|HFMA2|"
                     r"BAR|SYNCS|USETMAXREG|LDL|STL)")


class Refused(Exception):
    """The server answered with an error, or with a verdict against the kernel."""


class Page:
    """One file of code with its reference."""

    def __init__(self, path):
        self.code = Code(path)
        self.name = path.stem
        self.reference = REFERENCES / f"{self.name}.py"
        self.task = self.code.task
        body = re.split(r"\n(?://|#) ---\n", self.code.text, maxsplit=1)[1]
        given = json.dumps(self.task, sort_keys=True) + self.reference.read_text(encoding="utf-8")
        self.digest = hashlib.sha256((body + given).encode()).hexdigest()

    def library(self):
        """A library that takes other buffers than the kernel, as a task of its own."""
        text = self.reference.read_text(encoding="utf-8")
        return runpy.run_path(str(self.reference)).get("LIBRARY") if "LIBRARY" in text else None

    def request(self, folder):
        names = ("dims", "scalars", "tensors", "work", "where")
        task = {name: self.task[name] for name in names if name in self.task}
        task["cases"] = [{"dims": dims} for dims in self.task.get("cases", [self.task["dims"]])]
        return {**task, **self.task.get("tolerance", {}), "output_dir": str(folder),
                "implementation": "triton" if self.code.path.suffix == ".py" else "cuda-cpp",
                "any_size": self.task.get("any_size", True), "wait_s": WAIT_S}


class Measured:
    """Asks the server about one page."""

    def __init__(self, server, folder, page):
        self.server, self.folder, self.page = server, folder, page
        self.seconds, self.adding = {}, threading.Lock()
        self.of_library = None

    def call(self, tool, **arguments):
        start = time.monotonic()
        answer, why = self.server.call(tool, arguments)
        with self.adding:
            self.seconds[tool] = round(self.seconds.get(tool, 0) + time.monotonic() - start, 2)
        if why is not None:
            raise Refused(f"{tool}: {why[:900]}")
        return answer

    def created(self, step, scalars=None, number=0):
        request = self.page.request(self.folder / f"{self.page.name}-{step}-{number}")
        return self.call("create_run", kernel={"text": self.page.code.step(step)},
                         reference={"path": str(self.page.reference)},
                         **{**request, **({"scalars": scalars} if scalars else {})})

    def checked(self, run):
        answer = self.call("check_correctness", run=run, wait_s=WAIT_S)
        if not answer["passed"]:
            raise Refused("check_correctness: " + "; ".join(
                f"{one.get('code')}: {one.get('message')}" for one in answer["reasons"])[:1500])
        return len(answer["cases"])

    def step(self, number, made):
        found = {"step": f"v{number}", "executions": self.checked(made["run"]),
                 "registers": made["build"].get("registers"),
                 "spill_bytes": made["build"].get("spill_bytes")}
        profile = self.call("profile_kernel", run=made["run"], wait_s=WAIT_S)
        found |= {"ms": profile["timing"]["median_ns"] / 1e6, "bound": profile["bound"],
                  "bound_evidence": profile.get("bound_evidence"),
                  "findings": [one["id"] for one in profile.get("findings", [])],
                  "signature": self.signature(profile, made["run"])}
        if self.page.library() is None:
            report = self.call("benchmark", run=made["run"], baselines=["pytorch-eager"], wait_s=WAIT_S)
            found["cases"] = cases_of(report)
        else:
            found["cases"] = self.beside(profile)
        return found

    def signature(self, profile, run):
        kernels = profile.get("kernels") or []
        try:
            code = self.call("disassemble", run=run)
        except Refused as error:  # a machine without the tool
            code = {"functions": [], "why": str(error)}
            print("  ", error, flush=True)
        largest = max(code.get("functions", []), key=lambda one: one["in_loops"], default={"opcodes": {}})
        return {"kernels": [{"name": one["name"][:80],
                             "metrics": {name: value for name, value in one["metrics"].items()
                                         if any(part in name for part in SIGNATURE)}} for one in kernels],
                "roofline": {name: value for name, value in (profile.get("roofline") or {}).items()
                             if name.endswith("fraction")},
                "opcodes": {name: count for name, count in largest["opcodes"].items() if OPCODES.match(name)}}

    def beside(self, profile):
        """The library in a run of its own: its median at the timed sizes."""
        case = {"dims": self.page.task["dims"], "ms": profile["timing"]["median_ns"] / 1e6}
        if self.of_library is None:  # the same for all steps
            try:
                self.of_library = {"library_ms": self.library_ms()}
            except Refused as error:  # nothing is wrong with the kernel
                self.of_library = {"library_status": str(error)}
        if "library_ms" not in self.of_library:
            return [{**case, **self.of_library}]
        share = round(self.of_library["library_ms"] / case["ms"], 4)
        return [{**case, **self.of_library, "of_library": share, "paired": False}]

    def library_ms(self):
        library = self.page.library()
        made = self.call("create_run", kernel={"text": library["kernel"]}, dims=self.page.task["dims"],
                         reference={"text": library["reference"]}, tensors=library["tensors"],
                         work=library["work"], implementation="triton", any_size=False,
                         output_dir=str(self.folder / f"{self.page.name}-library"), wait_s=WAIT_S)
        self.checked(made["run"])
        return self.call("profile_kernel", run=made["run"], wait_s=WAIT_S)["timing"]["median_ns"] / 1e6

    def building(self, pool):
        """The runs of all steps, then those of the last with other scalars, which are checked, not timed."""
        last = self.page.task["steps"] - 1
        return ([pool.submit(self.created, number) for number in range(last + 1)],
                [pool.submit(self.created, last, scalars, number)
                 for number, scalars in enumerate(self.page.task.get("also", []), 1)])

    def everything(self, timed, also):
        steps = [self.step(number, made.result()) for number, made in enumerate(timed)]
        for made in also:
            steps[-1]["executions"] += self.checked(made.result()["run"])
        return steps


def cases_of(report):
    """Per case our median, the library's, and the paired ratio with its interval."""
    found = []
    for row in report["rows"]:
        if row["name"] == "candidate":
            found.append({"dims": row["dims"], "ms": row.get("median_ns", 0) / 1e6, "status": row["status"],
                          "detail": row.get("detail", "")[:300]})
    for row in report["rows"]:
        if row["name"] != "pytorch-eager":
            continue
        case = next(one for one in found if one["dims"] == row["dims"])
        if row["status"] != "ok":
            case["library_status"] = f"{row['status']}: {row.get('detail', '')[:300]}"
            continue
        compared = row.get("comparison", {})
        case |= {"library_ms": row["median_ns"] / 1e6, "paired": bool(compared),
                 "of_library": round(compared.get("speedup", row.get("speedup_median", 0)), 4)}
        if compared:
            case["interval"] = [round(compared["ci_low"], 4), round(compared["ci_high"], 4)]
    return found


def gpu_code():
    """The files with a reference; a stem may also name a file for the processor."""
    for path in sorted((CONTENT / "code").iterdir()):
        if (REFERENCES / f"{path.stem}.py").exists() and not Code(path).on_processor:
            yield Page(path)


def measure(options):
    out = pathlib.Path(options.out or os.environ.get("OUT") or RESULTS.parent) / "kernel_pages.json"
    kept = {}
    for file in {RESULTS, out}:
        if file.exists():
            kept |= json.loads(file.read_text(encoding="utf-8"))
    pages = [page for page in gpu_code() if not options.names or page.name in options.names]
    if options.names:
        pages.sort(key=lambda page: options.names.index(page.name))
    found = {page.name: kept[page.name] for page in pages
             if not options.again and kept.get(page.name, {}).get("digest") == page.digest
             and kept[page.name]["status"] == "measured"}
    kept |= found
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(4) as pool:
        root = pathlib.Path(temporary)
        server = Server([options.ratchet, "serve", "--state-dir", str(root / "state"), "--root", temporary,
                         "--root", str(ROOT), "--no-builtin-kbs"])
        environment, _ = server.call("check_env", {})
        device = devices_text(environment or {}, "cuda")
        work = [Measured(server, root, page) for page in pages if page.name not in found]
        building = [one.building(pool) for one in work]  # builds go on while others are measured
        for one, runs in zip(work, building):
            entry = {"digest": one.page.digest, "device": device, "date": str(datetime.date.today())}
            try:
                entry |= {"status": "measured", "steps": one.everything(*runs)}
            except (Refused, RuntimeError, KeyError) as error:
                entry |= {"status": "refused", "why": f"{type(error).__name__}: {error}"}
            entry["seconds"] = one.seconds
            kept[one.page.name] = entry
            out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            print(one.page.name, entry["status"], entry.get("why", ""), one.seconds, flush=True)
            for step in entry.get("steps", []):
                print("  ", step["step"], f"{step['ms']:.4f} ms,", step["registers"], "registers,",
                      step["spill_bytes"], "bytes spilled;", json.dumps(step["cases"]), flush=True)
        server.close()
    return sum(kept[page.name]["status"] != "measured" for page in pages)


def short(value):
    return f"{value:.3g}"


def write(file):
    """Headers and ladders from a file of results; a kernel that was refused, or changed since, is left.
    The file's rows also become those of tests/gpu/results, so that they are not measured again."""
    entries = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    RESULTS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    for page in gpu_code():
        name, entry = page.name, entries.get(page.name, {"status": "not measured", "digest": page.digest})
        if entry["status"] != "measured" or entry["digest"] != page.digest:
            print(f"{name}: left alone, {entry['status']}" + (", changed since" if entry["digest"] != page.digest else ""))
            continue
        gpu = re.sub(r"^cuda: (.*?) sm_.*", r"\1", entry["device"])
        first = entry["steps"][0]["ms"]
        rows = []
        for step in entry["steps"]:
            main = step["cases"][0]
            library = f"of_library: {short(main['of_library'])}, " if "of_library" in main else ""
            rows.append(f"{{step: {step['step']}, ms: {short(step['ms'])}, times_v0: {short(first / step['ms'])}, "
                        f"{library}registers: {step['registers']}, spill_bytes: {step['spill_bytes']}, "
                        f"device: \"{gpu}\", date: {entry['date']}}}")
        page.code.header_is("code_evidence", "measured")
        page.code.header_is("confidence", "verified")
        page.code.measured_on(gpu)
        page.code.text = no_longer_untried(page.code.text, gpu)
        page.code.write(rows)
        ladder(page.code.path.name, entry, gpu)


def ladder(file_name, entry, gpu):
    """Puts times into the rows of the page's ladder that begin with a step."""
    page = next(one for one in (CONTENT / "docs/kernels").glob("*.md")
                if f"code: code/{file_name}\n" in one.read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^code_evidence: .*(\nmeasured_on: .*)?", f'code_evidence: measured\nmeasured_on: "{gpu}"', text,
                  count=1, flags=re.M)
    text = re.sub(r"^confidence: .*", "confidence: verified", text, count=1, flags=re.M)
    first = entry["steps"][0]["ms"]
    for step in entry["steps"]:
        main = step["cases"][0]
        library = short(main["of_library"]) if "of_library" in main else "-"
        cells = f"{short(step['ms'])} | {short(first / step['ms'])} | {library} |"
        text = re.sub(rf"^(\| {step['step']} \| .*? \| ).*$", lambda m: m[1] + cells, text, flags=re.M)
    others = [f"{', '.join(f'{name} {size:,}' for name, size in case['dims'].items())}: {short(case['ms'])} ms"
              + (f", {short(case['of_library'])} of the library" if "of_library" in case else "")
              for case in entry["steps"][-1]["cases"][1:]]
    told = f"Medians through ratchet, {gpu}, {entry['date']}, caches cold."
    if others:
        told += f" Last step at other sizes: {'; '.join(others)}."
    text = re.sub(r"\n\nMedians (through ratchet|of \d+ launches).*", "", text)
    last = entry["steps"][-1]["step"]
    text = re.sub(rf"^(\| {last} \| .*)$", lambda m: f"{m[1]}\n\n{told}", text, count=1, flags=re.M)
    page.write_text(no_longer_untried(text, gpu), encoding="utf-8")


def no_longer_untried(text, gpu):
    text = text.replace("compiled with nvcc 13.0, not run;", f"checked and timed through ratchet on an {gpu};")
    text = text.replace("compiled with nvcc 13.0, not run", f"checked and timed through ratchet on an {gpu}")
    return re.sub(r"\*\*Compiled for ([^*]*) with nvcc 13\.0, not run\.\*\*",
                  rf"Compiled for \1; checked and timed on an {gpu}.", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ratchet", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_intermixed_args()  # options may stand between RATCHET and the names
    if options.write:
        return write(options.write)
    if options.ratchet is None:
        parser.error("RATCHET is missing")
    if not os.path.exists("/dev/nvidia0"):
        print("SKIP: no NVIDIA GPU on this machine")
        return 77
    return min(measure(options), 76)


if __name__ == "__main__":
    sys.exit(main())
