#!/bin/sh
# Labels CUDA kernels by intervention and compares the diagnosis with them; see ../labels/cuda_run.py.
#
#   tests/gpu/labels.sh [dist/ratchet [OPTION...] [NAME...]]
#
# Takes a bundle (./dev bundle). Results go to $OUT (or tests/gpu/results/). Needs nvcc, and python3 with
# numpy. Changes no setting of the GPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=${1:-$root/dist/ratchet}
[ $# -eq 0 ] || shift
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
exec "${RATCHET_PYTHON:-python3}" "$root/tests/labels/cuda_run.py" "$bundle/bin/ratchet" \
  "${OUT:-$root/tests/gpu/results}" "$@"
