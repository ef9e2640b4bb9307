#!/usr/bin/env python3
"""Builds CUDA kernels with compilers from PyPI's packages instead of an installed toolkit.

cuda_wheels.py BIN WHEELS: BIN has the programs, WHEELS the packages of requirements.txt beside this
file, unpacked by pip's --target. NVRTC of CUDA 12 and of 13 compile the same source, and the whole
toolkit of CUDA 13 builds the shipped problems: no driver and no other toolkit are needed, and none is
asked whether the result runs. PyPI's packages of CUDA 12 have no nvcc.
Exit status: 0 all was built; 1 something was not; 77 there are no packages.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = """#include <cuda_fp16.h>
// launch: grid = ceil_div(n, 256); block = 256
__global__ void twice(const half* x, half* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = __hadd(x[i], x[i]);
}
"""
PROBLEMS = pathlib.Path(__file__).resolve().parents[2] / "kernels/problems"


def nvrtc(bin_folder, library, headers):
    """What ratchet-nvrtc makes of the source with this library."""
    options = ["--gpu-architecture=sm_90", "-std=c++17", f"-I{headers}"]
    given = "\n".join(["twice.cu", *options, "", SOURCE])
    done = subprocess.run([bin_folder / "ratchet-nvrtc", library], input=given.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, f"{library.name}: {done.stderr.decode()[-2000:]}"
    assert done.stdout.startswith(b"\x7fELF"), f"{library.name} gave no cubin"
    print(f"{library.name}: {len(done.stdout)} bytes for sm_90")


def built(bin_folder, toolkit, kernel, place):
    """Builds a kernel as the server does, where nothing but this toolkit is to be found."""
    program = [bin_folder / "ratchet", "--root", PROBLEMS, "--root", place, "--state-dir", place / "state"]
    task = {"kernel": {"path": str(kernel)}, "arch": "sm_90"}
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin", "CUDA_HOME": str(toolkit)}
    done = subprocess.run([*program, "call", "disassemble", json.dumps(task), "--json"], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    build = json.loads(done.stdout)["build"]
    assert build["ok"], (kernel, build)
    print(f"{kernel.name}: {build['toolchain']}, {build['build_ms'] / 1e3:.1f} s")
    return build["toolchain"]


def main():
    bin_folder, wheels = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    toolkit = wheels / "nvidia/cu13"
    if not (toolkit / "bin/nvcc").exists():
        print(f"no packages in {wheels}")
        return 77
    old = wheels / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
    nvrtc(bin_folder, old, wheels / "nvidia/cuda_runtime/include")
    nvrtc(bin_folder, toolkit / "lib/libnvrtc.so.13", toolkit / "include")
    assert os.path.exists("/usr/bin/g++"), "g++ is needed beside the toolkit"
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name).resolve()
        (place / "twice.cu").write_text(SOURCE)
        for kernel in [*sorted(PROBLEMS.glob("*/cuda-cpp/naive.cu")), place / "twice.cu"]:
            used = built(bin_folder, toolkit, kernel, place)
            assert "nvcc 13." in used, used
        assert used.startswith("NVRTC"), f"device code alone was built by {used}"
    print("no driver was at hand: nothing was run")
    return 0


sys.exit(main())
