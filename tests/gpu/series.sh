#!/bin/sh
# Runs several series of checks at once, each with a GPU and a share of the cores of its own. They go on
# when the script has ended: for machines that one reaches only for minutes at a time.
#
#   tests/gpu/series.sh start FOLDER NAME COMMAND [NAME COMMAND]...
#   tests/gpu/series.sh wait FOLDER SECONDS
#
# The first COMMAND gets the first GPU (of CUDA_VISIBLE_DEVICES, where that is set), the second the second.
# $OUT is FOLDER/NAME there, which gets its output as log and in the end its exit status as done. `wait` ends
# as soon as all are done, else after SECONDS, and says how far each is; its status is the number of series
# that failed or go on. One driver starts the processes of all GPUs of a host in turn: beside a series that
# starts many, others take up to twice their time, so what has to be finished or timed runs alone.
# Changes no setting of the devices.
set -u
what=${1:-} folder=${2:-}
[ -n "$folder" ] || {
  echo "usage: $0 start FOLDER NAME COMMAND [NAME COMMAND]... | wait FOLDER SECONDS" >&2
  exit 2
}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# The number-th word of a list with commas.
nth() { echo "$1" | cut -d, -f"$2"; }

start() {
  share=$(($(nproc) / ($# / 2)))
  [ "$share" -ge 1 ] || share=1
  number=0
  while [ $# -ge 2 ]; do
    gpu=$number
    [ -z "${CUDA_VISIBLE_DEVICES:-}" ] || gpu=$(nth "$CUDA_VISIBLE_DEVICES" $((number + 1)))
    first=$((number * share % $(nproc)))
    mkdir -p "$folder/$1"
    printf '%s\n' "$2" >"$folder/$1/command"
    CUDA_VISIBLE_DEVICES=$gpu OUT=$folder/$1 setsid taskset -c "$first-$((first + share - 1))" \
      sh -c 'sh "$OUT/command"; echo $? >"$OUT/done"' >"$folder/$1/log" 2>&1 </dev/null &
    number=$((number + 1))
    shift 2
  done
}

wait_for_all() {
  end=$(($(date +%s) + $1))
  while :; do
    open=0
    for command in "$folder"/*/command; do
      [ -e "${command%command}done" ] || open=$((open + 1))
    done
    [ "$open" -gt 0 ] && [ "$(date +%s)" -lt "$end" ] || break
    sleep 1
  done
  failed=0
  for command in "$folder"/*/command; do
    series=${command%/command}
    state=$(cat "$series/done" 2>/dev/null || echo "goes on")
    [ "$state" = 0 ] || failed=$((failed + 1))
    echo "== ${series##*/}: $state"
    tail -n 12 "$series/log" | cut -c 1-240
  done
  return "$failed"
}

case $what in
  start) shift 2 && start "$@" ;;
  wait) wait_for_all "${3:?"how many seconds?"}" ;;
  *) echo "$0: $what is neither start nor wait" >&2 && exit 2 ;;
esac
