#!/bin/sh
# Checks the CUDA device on a machine with a GPU. Writes a table with command, device and date to
# results.md and results.json in $OUT (or tests/gpu/results/).
#
#   tests/gpu/run.sh [folder with gpu-driver and gpu_kernels.so]
#
# Without a folder it builds both (cmake, nvcc). Needs python3; compares with ncu if it is installed.
# Changes no setting of the GPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"

if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
if [ $# -ge 1 ]; then
  folder=$(cd "$1" && pwd)
else
  cmake -S "$root" -B "$root/build-gpu" -G Ninja -DCMAKE_BUILD_TYPE=Release
  cmake --build "$root/build-gpu" --target gpu-driver
  folder=$root/build-gpu/bin
  nvcc -shared -cudart shared -arch=native -O3 -lineinfo -Xcompiler -fPIC \
    -o "$folder/gpu_kernels.so" "$root/tests/gpu/kernels.cu"
fi
[ -e "$folder/nested_kernels.so" ] || nvcc -shared -cudart shared -arch=native -O3 -rdc=true \
  -Xcompiler -fPIC -o "$folder/nested_kernels.so" "$root/tests/gpu/nested_kernels.cu" -lcudadevrt
[ -e "$folder/judge.so" ] || nvcc -shared -cudart shared -arch=native -O3 -Xcompiler -fPIC \
  -o "$folder/judge.so" "$root/kernels/cuda/judge.cu"
exec python3 "$root/tests/gpu/checks.py" "$folder" "$out"
