#!/bin/sh
# The whole loop on a machine with a GPU: `ratchet doctor`, the demo twice (cold and warm build cache),
# a run's report, and the ceilings. Takes a bundle (./dev bundle).
#
#   tests/gpu/demo.sh [dist/ratchet]
#
# Writes demo.md and the run's artifacts into $OUT (or tests/gpu/results/). Changes no setting.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=${1:-$root/dist/ratchet}
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
ratchet=$bundle/bin/ratchet
state=$(mktemp -d)
export XDG_STATE_HOME=$state

{
  echo "# The demo on a GPU"
  echo
  echo "Command: \`tests/gpu/demo.sh\`, $(date -u +%Y-%m-%d), $(nvidia-smi \
    --query-gpu=name,driver_version --format=csv,noheader), $("$ratchet" --version)"
  echo
  echo "## ratchet doctor"
  echo '```'
  "$ratchet" doctor
  echo '```'
  for pass in "first run" "second run, builds cached"; do
    echo "## ratchet demo, $pass"
    echo '```'
    "$ratchet" demo --implementation cuda-cpp --output "$state/run-$(echo "$pass" | cut -c1-5)" 2>&1 || echo "exit status $?"
    echo '```'
  done
  echo "## measure_ceilings"
  echo '```'
  "$ratchet" call measure_ceilings '{"kind": "cuda"}'
  echo '```'
} >"$out/demo.md" 2>&1 || true
sed -i "s|$state|<state>|g" "$out/demo.md"
cp "$state/run-first/final_report.md" "$out/demo-final_report.md" || true
cp "$state/run-first/v2/ncu_summary.md" "$out/demo-v2-ncu_summary.md" || true
cat "$out/demo.md"
