#!/bin/sh
# Counters, diagnosis and their cost on a machine with a GPU; see counter_checks.py.
#
#   tests/gpu/counters.sh [folder with gpu-driver]
#
# Results go to $OUT (or tests/gpu/results/). Needs nvcc and python3; compares with ncu if it is
# installed. Changes no setting of the GPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"

if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
folder=${1:-$root/build-gpu/bin}
if [ ! -x "$folder/gpu-driver" ]; then
  cmake -S "$root" -B "$root/build-gpu" -G Ninja -DCMAKE_BUILD_TYPE=Release
  cmake --build "$root/build-gpu" --target gpu-driver
fi
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
[ "$arch" -lt 90 ] || arch=${arch}a
for name in kernels counter_kernels labeled_kernels; do
  target=$name
  [ "$name" != kernels ] || target=gpu_kernels
  nvcc -shared -cudart shared -gencode "arch=compute_$arch,code=sm_$arch" -O3 -lineinfo \
    -Xcompiler -fPIC -o "$folder/$target.so" "$root/tests/gpu/$name.cu"
done
exec python3 "$root/tests/gpu/counter_checks.py" "$folder" "$out"
