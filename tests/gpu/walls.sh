#!/bin/sh
# Lets the probes of tests/attacks/walls/cuda try to leave a worker on a GPU: as it is, and with walls
# taken out, where each must get through, or the probe proves nothing. Takes a bundle (./dev bundle)
# and the worker whose walls a test can take out (target ratchet-test-worker-cuda-open).
#
#   tests/gpu/walls.sh BUNDLE [WORKER]
#
# Writes attacks-walls.md and .json, and the same in walls-out/, into $OUT (or tests/gpu/results/).
# Changes no setting of the device.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd)
worker=${2:-}
out=${OUT:-$root/tests/gpu/results}
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
failed=0
"$root/tests/attacks/run.py" "$bundle/bin/ratchet" walls "$out" || failed=1
[ -n "$worker" ] || exit "$failed"

open=$(mktemp -d)
trap 'rm -rf "$open"' EXIT
cp -R "$bundle/." "$open"
cp "$worker" "$open/bin/open-worker"
cat >"$open/bin/ratchet-worker-cuda" <<END
#!/bin/sh
export RATCHET_TEST_WITHOUT=${WITHOUT:-landlock,root,user,limits,seccomp}
exec "$open/bin/open-worker" "\$@"
END
chmod +x "$open/bin/ratchet-worker-cuda"
"$root/tests/attacks/run.py" "$open/bin/ratchet" walls "$out/walls-out"
exit "$failed"
