"""C++ and CUDA extensions of torch (`load_inline`, `load`): built in the compiler role, which may
start programs, and loaded from their folder by the processes that are checked and timed. What is in
the folder at the start belongs to the server: it can be replaced, not written."""

import hashlib
import os

from messages import Failed


def digest_of(sources, options):
    """Of what a library is built from."""
    state = hashlib.sha256()
    for path in sources:
        with open(path, "rb") as file:
            state.update(file.read() + b"\0")
    state.update(repr([options.get(f"extra_{kind}") for kind in
                       ("cflags", "cuda_cflags", "ldflags")]).encode())
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


def use_built_ones(may_build):
    """Makes torch load a library that exists, instead of asking ninja whether it is up to date."""
    from torch.utils import cpp_extension
    build, write = cpp_extension._write_ninja_file_and_build_library, cpp_extension._maybe_write

    def refuse(name):
        raise Failed(f"the extension {name} was not built from these sources before: compile the "
                     "same sources whenever the file is imported, or first called at a size")

    def written(path, text):
        if content_of(path) not in (None, text):
            if not may_build:
                refuse(os.path.basename(os.path.dirname(path)))
            os.unlink(path)
        write(path, text)

    def built(name, sources, build_directory, **options):
        note = os.path.join(build_directory, f"{name}.digest")
        digest = digest_of(sources, options)
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
