#!/bin/sh
# Validates times and comparisons on a machine with a GPU.
#
#   tests/gpu/time.sh FOLDER STAGE...   FOLDER: a build with ratchet, workers, gpu-driver, bench-time
#
# Stages: tests ceilings agreement floors even slower do_bench cost baselines. `even slower` takes
# about 150 s, `floors` 60 s; COUNTS="even=9 slower=10" has the seconds that each kernel is
# recorded. Prints a table and appends to time.md in $OUT (or tests/gpu/results/). Changes no
# setting of the GPU.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(cd "$1" && pwd)
shift
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
case " $* " in
  *" agreement "*)
    nvcc -shared -cudart shared -arch=native -O3 -lineinfo -Xcompiler -fPIC \
      -o "$folder/gpu_kernels.so" "$root/tests/gpu/kernels.cu" || exit 1
    ;;
esac
exec python3 "$root/tests/gpu/time_checks.py" "$folder" "$out" "$@"
