"""A Python process started by a tool instead of by fork_server.py, for instance by a profiler that must
attach before CUDA starts.

    standalone.py PLAN      a JSON file with the part and its plan, in the working folder

It imports what fork_server.py would have imported, then runs its one part.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fork_server


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    # Triton's own helper is kept out of the cache in this folder, which holds the kernel's output.
    tools = f"{os.getcwd()}/tools/triton"
    fork_server.hide_ours()
    os.environ.update(fork_server.settings())
    own = os.environ["TRITON_CACHE_DIR"]
    os.environ["TRITON_CACHE_DIR"] = tools
    fork_server.imported(order["needs"], {})
    os.environ["TRITON_CACHE_DIR"] = own
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    os._exit(fork_server.PARTS[order["part"]]({**order["plan"], "triton_tools": tools,
                                               "readable": fork_server.readable_folders()}))


if __name__ == "__main__":
    main()
