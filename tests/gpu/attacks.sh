#!/bin/sh
# Tests the judge on a GPU: the cost of a check; every cheat and honest kernel of tests/attacks/cuda
# and, if torch and Triton are installed, of tests/attacks/python, through one server; and a series of
# random faults. Takes a bundle (./dev bundle).
#
#   tests/gpu/attacks.sh [BUNDLE [FAULTS]]
#
# Writes check-time.md, attacks-cuda.md and .json, attacks-python.md and .json, and faults-cuda.md into
# $OUT (or tests/gpu/results/). Changes no setting of the device.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=${1:-$root/dist/ratchet}
faults=${2:-100}
out=${OUT:-$root/tests/gpu/results}
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
ratchet=$bundle/bin/ratchet
failed=0
"$root/tests/attacks/check_time.py" "$ratchet" "$bundle/share/ratchet" "$out" || failed=1
"$root/tests/attacks/run.py" "$ratchet" cuda "$out" || failed=1
if "${RATCHET_PYTHON:-python3}" -c "import torch, triton" 2>/dev/null; then
  "$root/tests/attacks/run.py" "$ratchet" python "$out" || failed=1
fi
if [ "$faults" -gt 0 ]; then
  "$root/tests/attacks/faults.py" "$ratchet" cuda "$faults" "$out" || failed=1
fi
exit "$failed"
