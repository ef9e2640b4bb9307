#!/usr/bin/env python3
"""Compiles the Triton kernel of a page of the wiki for a GPU that is not there, and says what it became.

    tests/kbs/code/triton_compile.py FILE SM SIGNATURE OPTIONS      both JSON: types and constants by name; num_warps …

It prints "no triton" and ends with 0 where the interpreter has none.
"""

import importlib.util
import json
import sys

try:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError:
    print("no triton")
    sys.exit(0)


def main():
    path, sm, signature, options = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
    spec = importlib.util.spec_from_file_location("page", path)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    constants = {name: value for name, value in signature.items() if not isinstance(value, str)}
    types = {name: "constexpr" if name in constants else value for name, value in signature.items()}
    source = ASTSource(fn=page.product, signature=types, constexprs=constants)
    made = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=options)
    ptx = made.asm["ptx"]
    print(f"compiled for sm_{sm}: wgmma {ptx.count('wgmma.mma_async')}, tensor copies {ptx.count('cp.async.bulk.tensor')}")


main()
