#!/bin/sh
# Fuzzes every reader of files, texts and arguments; prints one line, and ends with 1 where an input
# makes one misbehave: build-fuzz/found has it.
#   run.sh [SECONDS]   for so long in all, 60 unless it is said
set -eu
seconds=${1:-60}
cd -- "$(dirname -- "$0")/../.."
targets="safetensors parameters arguments texts"
each=$((seconds / 4))
[ "$each" -gt 0 ] || { echo "fuzz: at least 4 seconds are needed" >&2; exit 2; }

begin=$(date +%s)
mkdir -p build-fuzz
log=build-fuzz/build.log
{ cmake --preset fuzz && cmake --build --preset fuzz --parallel "$(nproc)" --target fuzz_targets; } \
  >"$log" 2>&1 || { tail -40 "$log" >&2; echo "fuzz: does not build"; exit 1; }
built=$(($(date +%s) - begin))

status=0 executions=0 crashes=0
for target in $targets; do
  # What is found lies beside the corpus of the repository, and the next time begins with it.
  mkdir -p "build-fuzz/corpus/$target" "build-fuzz/found/$target"
  log=build-fuzz/$target.log
  # Programs say much on stderr, which is closed: the sanitizers' reports are files, too.
  ASAN_OPTIONS=log_path=build-fuzz/found/$target/report \
    build-fuzz/tests/fuzz/fuzz_$target "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" \
    -max_total_time="$each" -dict="tests/fuzz/$target.dict" -max_len=4096 -len_control=0 -timeout=10 \
    -malloc_limit_mb=64 -close_fd_mask=3 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/found/$target/" >"$log" 2>&1 || {
    status=1 crashes=$((crashes + 1))
    grep -aE 'ERROR|SUMMARY|Test unit written' "$log" >&2 || tail -20 "$log" >&2
  }
  n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  executions=$((executions + ${n:-0}))
done
echo "fuzz: 4 readers, $executions executions, $crashes misbehave, $(($(date +%s) - begin)) s of which $built to build"
exit $status
