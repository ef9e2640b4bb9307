#!/bin/sh
# Imports every problem of a suite's checkout and asks whether it can be judged on this GPU, several at
# once. Takes a bundle (./dev bundle) and a Python with torch (RATCHET_PYTHON).
#
#   tests/gpu/problems.sh SUITE [BUNDLE [SECONDS [AT_ONCE [SCALE [LIMIT [NAME...]]]]]]
#
# SUITE: a checkout's folder of problems, a folder of problems that were imported before (on a machine
# without a GPU, with run.py --only-import or `ratchet problem import`), or a .tar or .tar.xz of such a
# folder. NAME keeps the problems whose path has it. AT_ONCE 0: one server for every two of the machine's
# cores, 12 at most, because a driver starts the processes of all GPUs one after another. They share the GPUs
# of the machine, or the first $GPUS of them (of CUDA_VISIBLE_DEVICES, where that is set).
#
# Writes problems.jsonl, a row as soon as its problem is decided, and problems.md with the time of each step
# into $OUT (or tests/gpu/results/). SECONDS ends the call, LIMIT one problem. A later call goes on where
# this one stopped: in the same $OUT, or from BEFORE, the problems.jsonl of an earlier call; what was late is
# asked again where LIMIT is higher. SCALE bounds a problem's buffers; it says nothing of imported ones.
# ON_PROCESSOR=1 tries the script without a GPU. Changes no setting of the device.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=${1:?"name the folder of a suite's problems"}
bundle=${2:-$root/dist/ratchet}
seconds=${3:-540} at_once=${4:-0} scale=${5:-4M} limit=${6:-150}
[ "$#" -gt 6 ] && shift 6 || shift "$#"
out=${OUT:-$root/tests/gpu/results}
gpus=${GPUS:-$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)}
if [ -z "${ON_PROCESSOR:-}" ] && [ "$gpus" = 0 ]; then
  echo "SKIP: no NVIDIA GPU on this machine (/dev/nvidia0 is missing)"
  exit 77
fi
mkdir -p "$out"
[ -z "${BEFORE:-}" ] || cp "$BEFORE" "$out/problems.jsonl"
case $suite in
  *.tar | *.tar.xz)
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    name=$(basename "$suite")
    name=${name%.xz}
    "${RATCHET_PYTHON:-python3}" -m tarfile -e "$suite" "$unpacked/${name%.tar}" || exit 1
    suite=$unpacked/${name%.tar}
    ;;
esac
if [ "$at_once" = 0 ]; then
  at_once=$(($(nproc) / 2))
  [ "$at_once" -ge 1 ] || at_once=1
  [ "$at_once" -le 12 ] || at_once=12
fi
"$root/tests/problems/run.py" "$bundle/bin/ratchet" "$suite" "$out" --seconds "$seconds" \
  --at-once "$at_once" --scale "$scale" --limit "$limit" --gpus "$gpus" "$@"
