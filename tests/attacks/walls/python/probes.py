"""Ways out of a Python process: a kernel, a reference, or a file that makes inputs.

The harness (tests/kernels/confine) appends a call of `attempt` with what the probe is to reach. It runs
when the file is imported, and says by its exception what came of it. `roles`: in which processes the
attack is one; those of references, inputs and compilers may start programs.
"""

import ctypes
import errno
import mmap
import os
import signal
import socket
import subprocess
import sys
import time

PROBES = {}
HONEST = {}
# References, inputs and what fills compilers' caches have the same walls; what takes long is tried in
# one of them.
EITHER = ("candidate", "reference")
EVERY = ("candidate", "compiler", "baseline", "reference", "inputs")
C = ctypes.CDLL(None, use_errno=True)


def probe(way, walls, roles=EVERY, seen=False):
    def add(function):
        PROBES[function.__name__] = (way, walls, roles, seen, function)
        return function
    return add


def honest(way, roles=EVERY):
    def add(function):
        HONEST[function.__name__] = (way, roles, function)
        return function
    return add


def attempt(name, prey):
    function = PROBES[name][-1] if name in PROBES else HONEST[name][-1]
    try:
        outcome = "done" if function(prey) else "nothing happened"
    except OSError as error:
        outcome = errno.errorcode.get(error.errno, str(error.errno))
    raise RuntimeError(f"wall probe: {outcome}")


def call(number, *arguments):
    """A bare system call."""
    result = C.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


# ------------------------------------------------------------------------------------------- files

@probe("open", "landlock root")
def python_open(prey):
    with open(prey["secret"], encoding="utf-8") as file:
        return "5a1b" in file.read()


@probe("a program that reads a file", "landlock root",
       roles=("compiler", "baseline", "reference", "inputs"))
def python_cat(prey):
    return b"5a1b" in subprocess.run(["/bin/cat", prey["secret"]], capture_output=True).stdout


@probe("a list of another's folder", "landlock root")
def python_list(prey):
    return "secret" in os.listdir(prey["folder"])


@probe("an import from another's folder", "landlock root")
def python_import(prey):
    sys.path.insert(0, prey["folder"])
    import planted_module
    return planted_module.VALUE == 1


@probe("the environment of the process that forked it", "landlock root")
def python_parent_environment(prey):
    with open(f"/proc/{prey['process']}/environ", "rb") as file:
        return len(file.read(1)) == 1


@probe("a file in another's folder", "landlock root", seen=True)
def python_create(prey):
    with open(prey["folder"] + "/planted", "w", encoding="utf-8") as file:
        file.write("x")


@probe("a removed file", "landlock root", seen=True)
def python_remove(prey):
    os.remove(prey["secret"])


@probe("a renamed file", "landlock root", seen=True)
def python_rename(prey):
    os.rename(prey["secret"], prey["folder"] + "/renamed")


@probe("a module of the interpreter, changed for all that come later", "landlock root user", seen=True)
def python_change_module(prey):
    with open(prey["folder"] + "/planted_module.py", "a", encoding="utf-8") as file:
        file.write("VALUE = 2\n")


@probe("a mark in /dev/shm", "landlock root", seen=True)
def python_mark(prey):
    with open("/dev/shm/" + prey["mark"], "w", encoding="utf-8"):
        pass


@probe("a mark in /tmp", "landlock root", seen=True)
def python_mark_temporary(prey):
    with open("/tmp/" + prey["mark"], "w", encoding="utf-8"):
        pass


@probe("shared memory of multiprocessing", "landlock root seccomp", seen=True)
def python_shared_memory(prey):
    from multiprocessing import resource_tracker, shared_memory
    memory = shared_memory.SharedMemory(name=prey["mark"], create=True, size=4096)
    # A process of its own would remove it at some time after the end of this one.
    resource_tracker.unregister(memory._name, "shared_memory")


# ---------------------------------------------------------------------------------------- metadata

@probe("chmod", "seccomp root", seen=True)
def python_chmod(prey):
    os.chmod(prey["secret"], 0o666)


@probe("a program that changes a mode", "seccomp root",
       roles=("compiler", "baseline", "reference", "inputs"), seen=True)
def python_chmod_program(prey):
    subprocess.run(["/bin/chmod", "0666", prey["secret"]], capture_output=True)


@probe("utime", "seccomp root", seen=True)
def python_utime(prey):
    os.utime(prey["secret"], (1000, 1000))


@probe("setxattr", "seccomp root", seen=True)
def python_setxattr(prey):
    os.setxattr(prey["secret"], "user.walls", b"x")


@probe("getxattr", "seccomp root")
def python_getxattr(prey):
    return os.getxattr(prey["secret"], "user.present") == b"x"


@probe("stat", "root")
def python_stat(prey):
    return os.stat(prey["secret"]).st_size > 0


# --------------------------------------------------------------------------------- other processes

@probe("kill", "seccomp landlock", seen=True)
def python_kill(prey):
    os.kill(prey["process"], signal.SIGUSR1)


@probe("a program that sends a signal", "seccomp landlock",
       roles=("compiler", "baseline", "reference", "inputs"), seen=True)
def python_kill_program(prey):
    subprocess.run(["/bin/sh", "-c", f"kill -USR1 {prey['process']}"], capture_output=True)


@probe("pidfd_send_signal", "seccomp landlock", seen=True)
def python_kill_descriptor(prey):
    signal.pidfd_send_signal(os.pidfd_open(prey["process"]), signal.SIGUSR1)


@probe("setpriority", "seccomp", seen=True)
def python_priority(prey):
    os.setpriority(os.PRIO_PROCESS, prey["process"], 7)


@probe("sched_setaffinity", "seccomp", seen=True)
def python_affinity(prey):
    os.sched_setaffinity(prey["process"], {0})


@probe("process_vm_readv of the process that forked it", "seccomp landlock")
def python_read_memory(prey):
    text = ctypes.create_string_buffer(8)
    here = (ctypes.c_size_t * 2)(ctypes.addressof(text), 4)
    there = (ctypes.c_size_t * 2)(prey["address"], 4)
    return call(310, prey["process"], ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0) > 0


@probe("ptrace", "seccomp landlock")
def python_trace(prey):
    call(101, 0x4206, prey["process"], 0, 0)
    return True


# ----------------------------------------------------------------------------------------- sockets

@probe("TCP", "seccomp landlock")
def python_connect(prey):
    with socket.create_connection(("127.0.0.1", prey["port"]), timeout=2):
        return True


@probe("another's abstract socket", "seccomp landlock")
def python_abstract(prey):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + prey["name"])
        return True


@probe("another's socket in a folder", "seccomp root")
def python_socket_file(prey):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(prey["door"])
        return True


@probe("a program that uses the network", "seccomp landlock",
       roles=("compiler", "baseline", "reference", "inputs"))
def python_network_program(prey):
    command = f"exec 3<>/dev/tcp/127.0.0.1/{prey['port']} && echo reached"
    return b"reached" in subprocess.run(["/bin/bash", "-c", command], capture_output=True).stdout


# --------------------------------------------------------------------------------------- processes

@probe("a program", "seccomp", roles=("candidate",), seen=True)
def python_program(prey):
    subprocess.run(["/bin/touch", "proof"])


@probe("fork", "seccomp", roles=("candidate",), seen=True)
def python_fork(prey):
    child = os.fork()
    if child == 0:
        open("proof", "w", encoding="utf-8").close()
        os._exit(0)
    os.waitpid(child, 0)


@probe("a process that hogs the processor after the end", "seccomp watch", roles=EITHER, seen=True)
def python_left_behind(prey):
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            C.prctl(15, b"left-behind", 0, 0, 0)
            signal.alarm(20)
            os.write(tell, b"x")
            while True:
                pass
        os._exit(0)
    os.close(tell)
    os.read(ready, 1)


@probe("a fork storm", "seccomp limits watch", roles=EITHER)
def python_storm(prey):
    children = []
    try:
        for _ in range(prey["count"]):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                signal.pause()
                os._exit(0)
            children.append(child)
        time.sleep(prey["pause"])
        return True
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@probe("a handler of SIGSYS, then a forbidden call", "seccomp")
def python_hide(prey):
    signal.signal(signal.SIGSYS, lambda *_: None)
    try:
        call(317, 99, 0, 0)  # seccomp with an unknown operation
    except OSError:
        pass  # it went on
    return True


@probe("a new user namespace", "seccomp")
def python_unshare(prey):
    call(272, 0x10000000)
    return True


@probe("io_uring", "seccomp")
def python_ring(prey):
    parameters = ctypes.create_string_buffer(256)
    return call(425, 4, ctypes.addressof(parameters)) >= 0


# ----------------------------------------------------------------------------------------- amounts

@probe("memory", "limits watch", roles=EITHER)
def python_memory(prey):
    pages = mmap.mmap(-1, prey["memory"])
    for at in range(0, prey["memory"], 4096):
        pages[at] = 1
    time.sleep(prey["pause"])
    return True


@probe("memory of many processes together", "watch", roles=("reference",))
def python_memory_together(prey):
    children = []
    each = prey["memory"] // 4
    try:
        for _ in range(4):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                pages = mmap.mmap(-1, each)
                for at in range(0, each, 4096):
                    pages[at] = 1
                signal.pause()
                os._exit(0)
            children.append(child)
        time.sleep(2 * prey["pause"])
        return all(os.waitpid(child, os.WNOHANG)[0] == 0 for child in children)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


@probe("many files", "watch", roles=EITHER)
def python_disk(prey):
    for number in range(prey["disk"] >> 26):
        with open(f"part{number}", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 26)
    time.sleep(prey["pause"])
    return True


@probe("output", "watch", roles=EITHER)
def python_print(prey):
    for _ in range(64):
        os.write(2, b"x" * (1 << 20))
    return True


# ------------------------------------------------------------------------------------------ honest

@honest("numpy")
def honest_numpy(prey):
    import numpy as np
    return float(np.ones((64, 64)).sum()) == 4096.0


@honest("threads and a lock")
def honest_threads(prey):
    import threading
    done = []
    threads = [threading.Thread(target=done.append, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done) == 4


@honest("files in its own folder")
def honest_files(prey):
    import tempfile
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
        file.write("text")
        file.seek(0)
        return file.read() == "text"


@honest("a module of the standard library, not imported before")
def honest_import(prey):
    import decimal
    import sqlite3
    import xml.dom.minidom
    return decimal.Decimal(1) == 1 and bool(sqlite3.version) and bool(xml.dom.minidom)


@honest("its own source")
def honest_source(prey):
    import inspect
    return "def honest_source" in inspect.getsource(honest_source)


@honest("a clock, a random number, the number of processors")
def honest_system(prey):
    return time.time() > 0 and len(os.urandom(4)) == 4 and (os.cpu_count() or 0) > 0


@honest("a signal handler")
def honest_signal(prey):
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    return seen == [1]


@honest("ctypes, with a callback")
def honest_callback(prey):
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                               ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
    numbers = (ctypes.c_int * 3)(3, 1, 2)
    C.qsort(numbers, ctypes.c_size_t(3), ctypes.c_size_t(4), compare)
    return list(numbers) == [1, 2, 3]


@honest("a compiler", roles=("compiler", "baseline", "reference", "inputs"))
def honest_compiler(prey):
    with open("own.c", "w", encoding="utf-8") as file:
        file.write("int twice(int x) { return 2 * x; }\n")
    built = subprocess.run(["gcc", "-shared", "-fPIC", "own.c", "-o", "own.so"], capture_output=True)
    if built.returncode != 0:
        raise RuntimeError(built.stderr.decode())
    return ctypes.CDLL(os.path.abspath("own.so")).twice(21) == 42


@honest("a pipe to a program", roles=("compiler", "baseline", "reference", "inputs"))
def honest_program(prey):
    return subprocess.run(["/bin/cat"], input=b"text", capture_output=True).stdout == b"text"


@honest("fork", roles=("compiler", "baseline", "reference", "inputs"))
def honest_fork(prey):
    child = os.fork()
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
