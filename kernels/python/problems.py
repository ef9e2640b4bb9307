"""Reads a problem of another suite. Runs the suite's own code, so it has the walls of a reference; writes
nothing.

  import    files by name, format or "", most bytes, scale     -> a problem.json and files beside it

The server ends an import that is late or breaks down; the file "stack" in the process's folder then tells it where the
suite's code was.
"""

import faulthandler
import os
import sys
import traceback

import sandbox
from formats import FORMATS, problem, suite_times, trial
from messages import Failed, memory, missing_module, serve

NETWORK = ("HTTPSConnection", "Connection", "OSError: We couldn't connect", "URLError", "gaierror",
           "LocalEntryNotFound", "Temporary failure in name resolution", "Operation not permitted",
           "no processes")
SOON = 0.9  # of its time: when an import that still runs writes where it is
STARTS = {"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec",
          "subprocess.Popen"}


class Problems:
    def __init__(self, plan):
        self.plan = plan

    def enter(self):
        sandbox.enter(self.plan, False)
        sandbox.seal(self.plan)
        # What torch.compile makes computes the same, and sizes are all that is looked at.
        os.environ.update({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
                           "TORCHDYNAMO_DISABLE": "1"})

    def imported(self, asked):
        self.enter()
        self.stack = open("stack", "w", encoding="utf-8")
        faulthandler.enable(self.stack, all_threads=False)
        faulthandler.dump_traceback_later(SOON * asked["seconds"], file=self.stack)
        files = problem.Files(asked["files"])
        refuse_processes(files)
        form = self.chosen(files, asked["format"])
        try:
            made = trial.repeatable(lambda **found: form.read(
                files, {**asked, "quiet": False, "fixed": False, "varying": False, "updated": {},
                        **found}))
        except problem.Refused as refused:
            raise Failed(f"{refused}", refused.line) from refused
        except ImportError as error:
            if error.name and error.name.partition(".")[0] in {"utils", "task"}:
                raise Failed(f"{where(error, files)}it imports {error.name}, which is not beside it; "
                             "import the problem from a whole checkout of its suite") from error
            raise Failed(f"{where(error, files)}{missing_module(error)}") from error
        except (Exception, SystemExit) as error:
            if memory.used_up(error):
                memory.give_way(error)
            raise Failed(f"{said(error, files)}{way_on(error)}") from error
        kept, left_out = suite_times.read(form, asked["place"], asked["figures"])
        if kept:
            sizes = "the suite's, larger than here" if made["problem"]["scaled"] else "the suite's"
            made["problem"]["suite_baselines"] = [{**one, "sizes": sizes} for one in kept]
        return {**made, "digest": problem.digest(files.used), "left_out": left_out}

    def chosen(self, files, wanted):
        names = [form.NAME for form in FORMATS]
        if wanted and wanted not in names:
            raise Failed(f"format: there is no format {wanted!r}; the formats are {', '.join(names)}")
        for form in FORMATS:
            if wanted in ("", form.NAME) and form.recognizes(files):
                return form
        seen = ", ".join(sorted(files)[:8]) or "no files"
        raise Failed(f"it is no problem of the format{'' if wanted else 's'} "
                     f"{wanted or ', '.join(names)}: it has {seen}")


def refuse_processes(files):
    """Stops the suite's own code from starting processes. Libraries may ask programs, inside the
    walls, which hold either way."""
    library = os.path.dirname(os.__file__)

    def watch(event, _):
        if event not in STARTS:
            return
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename.startswith(library) and \
                "site-packages" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame and files.own(frame.f_code.co_filename):
            raise PermissionError(f"{event}: no processes")
    sys.addaudithook(watch)


def where(error, files):
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if files.own(frame.filename):
            place = f"{frame.filename}:{frame.lineno}: "
    return place


def said(error, files):
    """What went wrong, with file and line of the suite."""
    text = str(error)
    if not any(text.startswith(f"{name}:") for name in [*files, *files.within]):
        text = f"{where(error, files)}{type(error).__name__}: {error}"
    return text


def way_on(error):
    text = f"{type(error).__name__}: {error}"
    if any(sign in text for sign in NETWORK):
        return " (it wants a network or a process, and a problem's code gets neither: put what it " \
               "downloads into its files, or leave this problem out)"
    if "No module named" in text:
        return f" (install it for {sys.executable}, or name an interpreter that has it with --python)"
    if "FileNotFoundError" in text:
        return " (a problem's code finds no files but the interpreter's: put what it reads into its source)"
    if memory.used_up(error) or "MemoryError" in text:
        return f" (it needs more memory than it may have here{memory.allowed()}: import it on a larger " \
               "machine, or make it smaller)"
    if "gated" in text or "agree" in text and "license" in text:
        return " (what it needs is behind a license of others: accept that there and keep a copy beside it)"
    return ""


def answer(problems, body, descriptors):
    if "import" in body:
        return problems.imported(body["import"])
    return {"failed": {"message": "unknown request", "line": 0}}


def main(plan):
    sys.setrecursionlimit(5000)
    serve(Problems(plan), answer)
