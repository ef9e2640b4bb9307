"""A Python process that a tool starts itself, such as a profiler that must be there before CUDA.

    standalone.py PLAN      the part and its plan as JSON, in the folder it is started in

It imports what the warm parent (parent.py) would have imported, and then plays its one part.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import parent


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    # Triton's own helper stays apart from the cache in this folder, which is the kernel's work.
    tools = f"{os.getcwd()}/tools/triton"
    os.environ.update(parent.settings())
    own = os.environ["TRITON_CACHE_DIR"]
    os.environ["TRITON_CACHE_DIR"] = tools
    parent.imported(order["needs"], {})
    os.environ["TRITON_CACHE_DIR"] = own
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    os._exit(parent.PARTS[order["part"]]({**order["plan"], "triton_tools": tools,
                                          "readable": parent.readable_folders()}))


if __name__ == "__main__":
    main()
