"""The fork server for Python processes: imports frameworks once and forks.

Started by the server with a socket as descriptor 3. It runs no user code, knows no seeds or answers,
and never starts CUDA, which does not survive a fork. A child becomes a child of the server (which
adopts orphans), has its own process group and folder, and runs one part:

  needs, fork  what to import; whether to fork, with the part and its plan, environment, folder,
               limits and descriptors                            -> pid, versions, missing

Modules that cannot be imported are reported as missing; the child fails when it needs them. With
--interpret, Triton kernels run in Triton's interpreter, on the CPU.
"""

import gc
import importlib
import importlib.metadata
import os
import resource
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import embedded
import inputs
import reference
from messages import Channel, memory

PARTS = {"kernel": embedded.main, "reference": reference.main, "inputs": inputs.main}
LATE_PARTS = {"problems": "problems"}  # modules that import frameworks
INTERPRETS = "--interpret" in sys.argv
# CuTe DSL starts CUDA on import, so the child imports it. The modules it depends on do not start
# CUDA, but run a program to find libraries, which a sandboxed child may not do.
# So may tvm-ffi, where torch is older than what it needs.
UNDER = {"cutlass": ["cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc"],
         "tvm_ffi": []}
# Packages of modules that are not imported here
PACKAGES = {"cutlass": "nvidia-cutlass-dsl", "tvm_ffi": "apache-tvm-ffi"}
GIVEN = {"triton_tools": f"{os.getcwd()}/triton"}  # for all children
PARKING = 200  # above every descriptor number of a child


def readable_folders():
    """The folders from which an interpreter imports inside the sandbox."""
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable),
               *sys.path]
    names = {folder for folder in folders if folder and os.path.isdir(folder)}
    return sorted(names | {os.path.realpath(folder) for folder in names})


def arrange_descriptors(descriptors, numbers):
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, PARKING + place)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for place, number in enumerate(numbers):
        os.dup2(PARKING + place, number)
    os.closerange(max(numbers) + 1, os.sysconf("SC_OPEN_MAX"))


def settings():
    """Puts compilers' caches into the private folder and disables their compile processes. Triton
    stores the paths of its files in its cache; relative paths remain valid in another process's
    folder."""
    folder = os.getcwd()
    chosen = {"TRITON_CACHE_DIR": "triton", "TRITON_CACHE_AUTOTUNING": "1",
              "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
              "TORCHINDUCTOR_COMPILE_THREADS": "1",
              "CUTE_DSL_CACHE_DIR": f"{folder}/cute", "CUTE_DSL_LINEINFO": "1",
              "TORCH_EXTENSIONS_DIR": f"{folder}/extensions",
              "TVM_FFI_CACHE_DIR": f"{folder}/extensions/tvm_ffi",
              "LOGNAME": "ratchet"}  # Inductor asks; without it the C library asks over a socket
    if INTERPRETS:
        chosen["TRITON_INTERPRET"] = "1"
    return chosen


def limit_memory(extra):
    """Limits the address space to `extra` bytes beyond what the frameworks have mapped already."""
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + extra, mapped + extra))
    memory.limit(extra)


def hide_ours():
    """Leaves what the walls are told in the process's environment, from where they take it, and not in
    os.environ, where code that is loaded later would see it."""
    for name in [name for name in os.environ if name.startswith("RATCHET_")]:
        value = os.environ.pop(name)
        os.putenv(name, value)


def become(plan, descriptors):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(plan["folder"])
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in plan["environment"])
    hide_ours()
    os.environ.update(settings())
    tempfile.tempdir = None  # Python remembers the parent's, where a child may not write
    arrange_descriptors(descriptors, plan["numbers"])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    if plan["address_space_bytes"] is not None:
        limit_memory(plan["address_space_bytes"])
    if plan["file_size_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan["file_size_bytes"],) * 2)
    if plan["part"] in LATE_PARTS:
        PARTS[plan["part"]] = importlib.import_module(LATE_PARTS[plan["part"]]).main
    os._exit(PARTS[plan["part"]]({**plan["plan"], **GIVEN, "readable": readable_folders()}))


def start(plan, descriptors):
    """Forks twice, so that the server adopts the child; returns its process id."""
    read_end, write_end = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            mother = os.getpid()
            if os.fork() == 0:
                os.setsid()
                os.write(write_end, str(os.getpid()).encode())
                os.close(write_end)
                while os.getppid() == mother:  # the walls tie the child's life to its new parent
                    time.sleep(0.0002)
                become(plan, descriptors)
            os._exit(0)
        except BaseException as error:
            print(f"cannot start: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(70)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        pid = pipe.read()
    os.waitpid(between, 0)
    return int(pid)


def imported(names, tried):
    """Imports the modules not tried before; returns the errors of all that failed."""
    for name in names:
        if name in tried:
            continue
        tried[name] = None
        try:
            for module in UNDER.get(name, [name]):
                importlib.import_module(module)
            if name == "triton" and not INTERPRETS:
                prepare_triton()
            if name == "tvm_ffi":
                prepare_tvm_ffi()
        except Exception as error:
            tried[name] = f"{type(error).__name__}: {error}"
        gc.collect()
        gc.freeze()  # so that garbage collection in children leaves these pages shared
    return {name: tried[name] for name in names if tried[name]}


def prepare_triton():
    """Lets Triton query other programs and compile its helper now, which a sandboxed process may not
    do. Does not start CUDA; the helper goes into this process's own cache, which no kernel writes.
    """
    from triton.backends.nvidia import driver
    from triton.runtime import build
    build.platform_key()
    driver.library_dirs()
    driver.CudaUtils()


def prepare_tvm_ffi():
    """tvm-ffi imports CUDA's bindings where they are installed, and these run a program."""
    try:
        importlib.import_module("cuda.bindings.driver")
    except ImportError:
        pass


def version_of(name):
    """The version of an imported module or of its package; empty when neither exists."""
    if name not in PACKAGES:
        return getattr(sys.modules.get(name), "__version__", "")
    try:
        return importlib.metadata.version(PACKAGES[name])
    except importlib.metadata.PackageNotFoundError:
        return ""


def versions(names):
    loaded = {name: version_of(name) for name in names}
    return {"python": sys.version.split()[0], **{n: v for n, v in loaded.items() if v}}


def main():
    channel = Channel()
    if os.geteuid() == 0:
        os.chown(".", 0, 0)  # children on a GPU keep this user, and read what is prepared here
    os.environ.update(settings())  # some are read when a framework is imported
    tried = {}
    channel.send(0, versions([]))
    while True:
        message_id, body, descriptors = channel.receive()
        begin = time.perf_counter()
        missing = imported(body["needs"], tried)
        reply = {"missing": missing, "import_s": time.perf_counter() - begin}
        try:
            if body["fork"]:
                reply["pid"] = start(body, descriptors)
        except (OSError, ValueError) as error:
            reply["failed"] = f"cannot fork: {error}"
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(message_id, {**reply, "versions": versions(body["needs"])})


if __name__ == "__main__":
    main()
