#!/bin/sh
# Checks the clock that times calls against plain CUDA events of a program that shares no code with
# it: single kernels, many launches, graphs of 50 short nodes; see instrument.py. About 90 s.
#
#   tests/gpu/instrument.sh [folder with gpu-driver]
#
# Writes instrument.md into $OUT (or tests/gpu/results/). Needs nvcc with CUPTI, and python3.
# Changes no setting of the GPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
folder=$(cd "${1:-$root/build-gpu/bin}" && pwd)
# nvcc may be a script that calls another one: what it says of itself is where its libraries are.
toolkit=$(nvcc --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
places=
for place in "$toolkit/extras/CUPTI/lib64" "$toolkit/lib64" "$toolkit/lib"; do
  [ -d "$place" ] && places="$places -L$place -Xlinker -rpath -Xlinker $(cd "$place" && pwd)"
done
nvcc -shared -cudart shared -arch=native -O3 -Xcompiler -fPIC \
  -o "$folder/instrument_kernels.so" "$root/tests/gpu/instrument_kernels.cu"
# shellcheck disable=SC2086  # several arguments
nvcc -cudart shared -arch=native -O3 -I"$toolkit/extras/CUPTI/include" $places \
  -o "$folder/gpu-instrument" "$root/tests/gpu/instrument.cu" -lcupti -ldl
exec python3 "$root/tests/gpu/instrument.py" "$folder" "$out"
