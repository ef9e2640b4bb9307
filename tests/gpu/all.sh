#!/bin/sh
# Everything that needs a GPU machine, in one go. Builds in place, so it needs cmake, ninja, g++, nvcc
# and the development packages listed in CONTRIBUTING.md (if they are in unusual places, set
# CMAKE_PREFIX_PATH and PKG_CONFIG_PATH; HTTPLIB_DIR for a newer httplib.h).
#
#   tests/gpu/all.sh [STAGE...]     stages: tests checks demo sanitize threads; default: all
#
# Writes into $OUT (or tests/gpu/results/). Changes no setting of the GPU.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/tests/gpu/results}
mkdir -p "$out"
: "${RATCHET_PYTHON:=python3}"
export RATCHET_PYTHON
status=0

# build FOLDER TARGETS CMAKE-ARGUMENTS...
build() {
  folder=$1 targets=$2
  shift 2
  cmake -S "$root" -B "$root/$folder" -G Ninja "-DRATCHET_HTTPLIB_DIR=${HTTPLIB_DIR:-}" "$@" \
    >"$out/$folder.log" 2>&1 &&
    ninja -k 0 -C "$root/$folder" $targets >>"$out/$folder.log" 2>&1 && return
  grep -E -A6 "error:" "$out/$folder.log" | tail -n 60
  status=1
  return 1
}

check() { # FOLDER CTEST-ARGUMENTS...
  folder=$1
  shift
  (cd "$root/$folder" && ctest --output-on-failure -LE 'npm|browser|lint' -j 6 "$@") \
    >>"$out/$folder.log" 2>&1 || status=1
  grep -E '(Failed|Timeout|Not Run|\*\*\*)|tests passed|Total Test' "$out/$folder.log" | tail -n 40
}

stage() {
  echo "== $1, $(date -u +%H:%M:%S)"
  case $1 in
    tests) build build-gpu "all gpu-driver" -DCMAKE_BUILD_TYPE=Release && check build-gpu ;;
    checks)
      nvcc -shared -cudart shared -arch=native -O3 -lineinfo -Xcompiler -fPIC \
        -o "$root/build-gpu/bin/gpu_kernels.so" "$root/tests/gpu/kernels.cu" &&
        "$root/tests/gpu/run.sh" "$root/build-gpu/bin" || status=1
      ;;
    demo)
      cmake --install "$root/build-gpu" --prefix "$root/build-gpu/tree" >/dev/null &&
        "$root/tests/gpu/demo.sh" "$root/build-gpu/tree" || status=1
      ;;
    sanitize)
      build build-asan all -DCMAKE_BUILD_TYPE=Debug '-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1' \
        -DRATCHET_SANITIZE=address,undefined && check build-asan -LE 'slow|npm|browser|lint'
      ;;
    threads)
      build build-tsan "ratchet-tests-core ratchet-tests-mcp ratchet-tests-runs ratchet-tests-kbs" \
        -DCMAKE_BUILD_TYPE=Debug '-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1' -DRATCHET_SANITIZE=thread &&
        check build-tsan -R '^(server/(core|mcp|runs)|kbs):'
      ;;
    *) echo "unknown stage: $1"; exit 2 ;;
  esac
}

for name in ${*:-tests checks demo sanitize threads}; do stage "$name"; done
exit $status
