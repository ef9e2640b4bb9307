"""What Inductor asks other programs before it looks into its cache, such as the compiler's version:
recorded in the compiler role, which may start programs, and answered from there in the processes that
are checked and timed. What was not asked before is refused there, by name."""

import json
import os
import re
import subprocess

WANTED = re.compile(r"torch\.compile|inductor|from torch import .*\bcompile\b")


def packed(output):
    """Bytes or text of a program as JSON."""
    return {"bytes": output.decode("latin-1")} if isinstance(output, bytes) else output


def unpacked(output):
    return output["bytes"].encode("latin-1") if isinstance(output, dict) else output


class Answers:
    def __init__(self, may_ask):
        self.may_ask = may_ask
        self.run, self.call = subprocess.run, subprocess.call
        self.folder = os.getcwd()
        self.file = f"{os.environ['TORCHINDUCTOR_CACHE_DIR']}/answers.json"
        self.known = {}
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.known = json.load(file)

    def answered(self, *command, **options):
        key = repr(command).replace(self.folder, ".")  # another process has another folder
        if not self.may_ask and key in self.known:
            code, out, error = self.known[key]
            done = subprocess.CompletedProcess(command[0], code, unpacked(out), unpacked(error))
            if options.get("check"):
                done.check_returncode()
            return done
        done = self.run(*command, **options)
        if self.may_ask:
            self.known[key] = [done.returncode, packed(done.stdout), packed(done.stderr)]
            self.keep()
        return done

    def called(self, *command, **options):
        """The status of a program, as `subprocess.call` and `check_call` ask for it."""
        key = f"status of {command!r}".replace(self.folder, ".")
        if not self.may_ask and key in self.known:
            return self.known[key]
        status = self.call(*command, **options)
        if self.may_ask:
            self.known[key] = status
            self.keep()
        return status

    def keep(self):
        """The file of an earlier pass can be replaced, not written."""
        os.makedirs(os.path.dirname(self.file), exist_ok=True)
        with open(f"{self.file}.new", "w", encoding="utf-8") as file:
            json.dump(self.known, file)
        os.replace(f"{self.file}.new", self.file)


def refuse_programs():
    """Names the program that a checked process asks for, where the walls would only kill it. Who asks may do
    without one: it is the error of a system that lacks the program."""
    import _posixsubprocess

    def refused(arguments, *_):
        words = [os.fsdecode(word) for word in arguments]
        raise PermissionError(f"a kernel that is checked starts no program, and asks for {' '.join(words)[:300]}: "
                              "whatever needs it has to be asked when the kernel is built")

    _posixsubprocess.fork_exec = subprocess._fork_exec = refused
    subprocess._USE_POSIX_SPAWN = False  # the other way to start one


def wanted(text):
    """Whether a source uses Inductor, whose settings alone take a second to import."""
    return WANTED.search(text) is not None


def choose_assembler():
    """Makes Inductor choose Triton's assembler now. Its version is in Triton's keys and asked for once: left to
    itself, Inductor asks before it chooses where it writes code, and after where it finds code in its cache."""
    from torch._inductor.runtime import compile_tasks
    if hasattr(compile_tasks, "_set_triton_ptxas_path"):
        compile_tasks._set_triton_ptxas_path()


def use_recorded_answers(may_ask):
    # With all that a first call would import: it is there that a deadline counts.
    import torch._dynamo
    import torch._inductor.compile_fx
    import torch._inductor.config as settings
    answers = Answers(may_ask)
    subprocess.run, subprocess.call = answers.answered, answers.called
    choose_assembler()
    if not may_ask:
        refuse_programs()
    if hasattr(settings, "cpp_cache_precompile_headers"):
        settings.cpp_cache_precompile_headers = False  # into a folder of another name in every process
    if hasattr(settings, "use_static_cuda_launcher"):
        settings.use_static_cuda_launcher = False  # its cache keeps the path of the pass's folder
