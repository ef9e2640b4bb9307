#!/bin/sh
# Imports every problem of a suite's checkout and asks whether it can be judged on this GPU, several at
# once. Takes a bundle (./dev bundle) and a Python with torch (RATCHET_PYTHON).
#
#   tests/gpu/problems.sh SUITE [BUNDLE [SECONDS [AT_ONCE [SCALE [LIMIT]]]]]
#
# Writes problems.jsonl, a row as soon as its problem is decided, and problems.md into $OUT (or
# tests/gpu/results/). SECONDS ends the call, LIMIT one problem. A later call goes on where this one
# stopped: in the same $OUT, or from BEFORE, the problems.jsonl of an earlier call; what was late is asked
# again where LIMIT is higher. SCALE: the most bytes of a problem's buffers. ON_PROCESSOR=1 tries the script
# without a GPU. Changes no setting of the device.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=${1:?"name the folder of a suite's problems"}
bundle=${2:-$root/dist/ratchet}
out=${OUT:-$root/tests/gpu/results}
if [ -z "${ON_PROCESSOR:-}" ] && ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
mkdir -p "$out"
[ -z "${BEFORE:-}" ] || cp "$BEFORE" "$out/problems.jsonl"
exec "$root/tests/problems/run.py" "$bundle/bin/ratchet" "$suite" "$out" \
  --seconds "${3:-540}" --at-once "${4:-12}" --scale "${5:-4M}" --limit "${6:-100}"
