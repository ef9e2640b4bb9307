"""The warm parent of all Python processes: imports frameworks once and forks.

Started by the server with a socket on descriptor 3. It runs nothing of a user's, knows no seed and
no answer, and never starts CUDA, which does not survive a fork. A child becomes the server's own
(the server adopts orphans), in its own process group and folder, and plays one part:

  needs, fork  what to import; whether to fork, with the part and its plan, environment, folder,
               limits and descriptors                            -> pid, versions, missing

What cannot be imported is reported as missing; the child then says so where it matters. With
--interpret, Triton kernels run in Triton's interpreter, on the processor.
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
from messages import Channel

PARTS = {"kernel": embedded.main, "reference": reference.main, "inputs": inputs.main}
INTERPRETS = "--interpret" in sys.argv
# CuTe DSL starts CUDA when it is imported, which is left to the child. What lies under it does not,
# but asks another program where libraries are, which a sandboxed child may not.
UNDER = {"cutlass": ["cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc"]}
PACKAGES = {"cutlass": "nvidia-cutlass-dsl"}  # of those that are not imported here
GIVEN = {"triton_tools": f"{os.getcwd()}/triton"}  # for all children
PARKING = 200  # above every number a child is given


def readable_folders():
    """What an interpreter needs to go on importing in a sandbox."""
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable),
               *sys.path]
    real = {os.path.realpath(folder) for folder in folders if folder and os.path.isdir(folder)}
    return sorted(real)


def arrange_descriptors(descriptors, numbers):
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, PARKING + place)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for place, number in enumerate(numbers):
        os.dup2(PARKING + place, number)
    os.closerange(max(numbers) + 1, os.sysconf("SC_OPEN_MAX"))


def settings():
    """Compilers' caches in the private folder, and no processes of their own for compiling. Triton
    writes the paths of its files into its cache: relative ones hold in another process's folder."""
    folder = os.getcwd()
    chosen = {"TRITON_CACHE_DIR": "triton", "TRITON_CACHE_AUTOTUNING": "1",
              "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
              "TORCHINDUCTOR_COMPILE_THREADS": "1",
              "CUTE_DSL_CACHE_DIR": f"{folder}/cute", "CUTE_DSL_LINEINFO": "1"}
    if INTERPRETS:
        chosen["TRITON_INTERPRET"] = "1"
    return chosen


def limit_memory(extra):
    """`extra` bytes of address space beyond what the frameworks have mapped already."""
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + extra, mapped + extra))


def become(plan, descriptors):
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(plan["folder"])
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in plan["environment"])
    os.environ.update(settings())
    tempfile.tempdir = None  # Python remembers the parent's, where a child may not write
    arrange_descriptors(descriptors, plan["numbers"])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    if plan["address_space_bytes"] is not None:
        limit_memory(plan["address_space_bytes"])
    if plan["file_size_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan["file_size_bytes"],) * 2)
    os._exit(PARTS[plan["part"]]({**plan["plan"], **GIVEN, "readable": readable_folders()}))


def start(plan, descriptors):
    """Forks twice, so that the child is nobody's here; its process id."""
    read_end, write_end = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            mother = os.getpid()
            child = os.fork()
            if child == 0:
                os.close(write_end)
                while os.getppid() == mother:  # the sandbox asks to die with the adopted parent
                    time.sleep(0.0002)
                become(plan, descriptors)
            os.setpgid(child, child)  # both sides set it, so that neither can be too late
            os.write(write_end, str(child).encode())
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
    """Imports what has not been tried; why each that failed did."""
    for name in names:
        if name in tried:
            continue
        tried[name] = None
        try:
            for module in UNDER.get(name, [name]):
                importlib.import_module(module)
            if name == "triton" and not INTERPRETS:
                prepare_triton()
        except Exception as error:
            tried[name] = f"{type(error).__name__}: {error}"
        gc.collect()
        gc.freeze()  # collections in children then leave these pages shared
    return {name: tried[name] for name in names if tried[name]}


def prepare_triton():
    """Has Triton ask other programs and compile its helper now: a sandboxed process may not. No
    CUDA is started; the helper lands in this process's own cache, which no kernel ever writes."""
    from triton.backends.nvidia import driver
    from triton.runtime import build
    build.platform_key()
    driver.library_dirs()
    driver.CudaUtils()


def version_of(name):
    """What an imported module says, or its package; empty when neither is there."""
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
