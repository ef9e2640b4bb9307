"""C++ and CUDA extensions of torch and of tvm-ffi (`load_inline`, `load`): built in the compiler role,
which may start programs, and loaded from their folder by the processes that are checked and timed. What
is in the folder at the start belongs to the server: it can be replaced, not written."""

import hashlib
import inspect
import os

from messages import Failed


def digest_of(sources, options):
    """Of what a library is built from."""
    state = hashlib.sha256()
    for path in sources:
        with open(path, "rb") as file:
            state.update(file.read() + b"\0")
    state.update(repr(options).encode())
    return state.hexdigest()


def content_of(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def remove_products(folder, sources):
    kept = {os.path.realpath(path) for path in [*sources, f"{folder}/lock"]}
    for entry in os.scandir(folder):
        if entry.is_file() and os.path.realpath(entry.path) not in kept:
            os.unlink(entry.path)


def refuse(name):
    raise Failed(f"the extension {name} was not built from these sources before: compile the "
                 "same sources whenever the file is imported, or first called at a size")


def forget_locks():
    """tvm-ffi opens its lock files for writing, and waits for ever where it may not."""
    folder = os.environ["TVM_FFI_CACHE_DIR"]
    if not os.path.isdir(folder):
        return
    for entry in os.scandir(folder):
        if entry.is_dir() and os.path.exists(f"{entry.path}/lock"):
            os.unlink(f"{entry.path}/lock")


def use_built_ones(may_build):
    """Makes torch load a library that exists, instead of asking ninja whether it is up to date."""
    from torch.utils import cpp_extension
    build, write = cpp_extension._write_ninja_file_and_build_library, cpp_extension._maybe_write

    def written(path, text):
        if content_of(path) not in (None, text):
            if not may_build:
                refuse(os.path.basename(os.path.dirname(path)))
            os.unlink(path)
        write(path, text)

    def built(name, sources, build_directory, **options):
        note = os.path.join(build_directory, f"{name}.digest")
        digest = digest_of(sources, [options.get(f"extra_{kind}")
                                     for kind in ("cflags", "cuda_cflags", "ldflags")])
        if content_of(note) == digest:
            return
        if not may_build:
            refuse(name)
        remove_products(build_directory, sources)
        build(name=name, sources=sources, build_directory=build_directory, **options)
        with open(note, "w", encoding="ascii") as file:
            file.write(digest)

    cpp_extension._maybe_write = written
    cpp_extension._write_ninja_file_and_build_library = built


def use_built_modules(may_build, device):
    """The same for tvm-ffi, where it is installed. `device`: of CUDA, or None."""
    try:
        from tvm_ffi.cpp import extension
    except ImportError:  # the file's own import says where
        return
    build = getattr(extension, "_build_impl", None)
    if build is None:
        raise Failed("this version of tvm_ffi builds in a way that is not known here: install "
                     "apache-tvm-ffi 0.1.15, or use torch.utils.cpp_extension")
    if device is not None:  # otherwise it asks another program
        import torch
        major, minor = torch.cuda.get_device_capability(device)
        os.environ["TVM_FFI_CUDA_ARCH_LIST"] = f"{major}.{minor}{'a' if major >= 9 else ''}"
    signature = inspect.signature(build)

    def built(*given, **named):
        asked = signature.bind(*given, **named)
        options = dict(asked.arguments)
        name, sources = options["name"], options.pop("sources")
        sources = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources or [])
        # Its own choice depends on where the sources lie, which differs from process to process.
        folder = options.pop("build_directory", None) or f"{os.environ['TVM_FFI_CACHE_DIR']}/{name}"
        folder = os.path.abspath(folder)
        options.pop("need_lock", None)
        note = os.path.join(folder, f"{name}.digest")
        digest = digest_of(sources, sorted(options.items()))
        kept, _, product = (content_of(note) or "").partition(" ")
        if kept == digest:
            return os.path.join(folder, product)
        if not may_build:
            refuse(name)
        os.makedirs(folder, exist_ok=True)
        remove_products(folder, sources)
        asked.arguments["build_directory"] = folder
        made = build(*asked.args, **asked.kwargs)
        with open(note, "w", encoding="utf-8") as file:
            file.write(f"{digest} {os.path.basename(made)}")
        return made

    extension._build_impl = built
