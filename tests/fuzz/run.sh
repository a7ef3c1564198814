#!/bin/sh
# Fuzzes every reader of files, texts and arguments. Prints one line, and exits with 1 if an input
# makes one of them fail; the input is then in build-fuzz/found.
#   run.sh [SECONDS]   of processor time for all of them together; 60 by default
set -eu
seconds=${1:-60}
cd -- "$(dirname -- "$0")/../.."
targets="safetensors gguf parameters packed arguments texts tokenizer chat_template"
readers=$(echo "$targets" | wc -w)
each=$((seconds / readers))
[ "$each" -gt 0 ] || { echo "fuzz: at least $readers seconds are needed" >&2; exit 2; }

begin=$(date +%s)
mkdir -p build-fuzz
log=build-fuzz/build.log
{ cmake --preset fuzz && cmake --build --preset fuzz --parallel "$(nproc)" --target fuzz_targets; } \
  >"$log" 2>&1 || { tail -40 "$log" >&2; echo "fuzz: does not build"; exit 1; }
built=$(($(date +%s) - begin))

# Fuzzes one reader; the result is its exit status.
fuzz() {
  target=$1
  # libFuzzer adds inputs to the first corpus, which the next run starts from as well.
  mkdir -p "build-fuzz/corpus/$target" "build-fuzz/found/$target"
  # stderr is closed because the programs print much; the sanitizers write their reports to files.
  ASAN_OPTIONS=log_path=build-fuzz/found/$target/report \
    build-fuzz/tests/fuzz/fuzz_$target "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" \
    -max_total_time="$each" -dict="tests/fuzz/$target.dict" -max_len=4096 -len_control=0 -timeout=10 \
    -malloc_limit_mb=64 -close_fd_mask=3 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/found/$target/" >"build-fuzz/$target.log" 2>&1
}

# Two readers at a time, each of which takes one core.
status=0 executions=0 crashes=0
set -- $targets
while [ $# -gt 0 ]; do
  pair="$1 ${2:-}" pids=
  for target in $pair; do
    fuzz "$target" & pids="$pids $!"
  done
  for pid in $pids; do
    wait "$pid" || status=1 crashes=$((crashes + 1))
  done
  for target in $pair; do
    log=build-fuzz/$target.log
    grep -aE 'ERROR|SUMMARY|Test unit written' "$log" >&2 || true
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    [ -n "$n" ] || tail -20 "$log" >&2
    executions=$((executions + ${n:-0}))
  done
  shift
  [ $# -eq 0 ] || shift
done
echo "fuzz: $readers readers, $executions executions, $crashes failed, $(($(date +%s) - begin)) s of which $built to build"
exit $status
