#!/bin/sh
# Imports every problem of a suite's checkout and asks whether it can be judged on this GPU, several at
# once; a later call goes on where this one stopped. Takes a bundle (./dev bundle) and a Python with torch
# (RATCHET_PYTHON).
#
#   tests/gpu/problems.sh SUITE [BUNDLE [SECONDS [AT_ONCE [SCALE]]]]
#
# Writes problems.jsonl and problems.md into $OUT (or tests/gpu/results/). Changes no setting of the
# device.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=${1:?"name the folder of a suite's problems"}
bundle=${2:-$root/dist/ratchet}
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
exec "$root/tests/problems/run.py" "$bundle/bin/ratchet" "$suite" "${OUT:-$root/tests/gpu/results}" \
  --seconds "${3:-540}" --at-once "${4:-12}" --scale "${5:-512M}"
