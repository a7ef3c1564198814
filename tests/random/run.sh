#!/bin/sh
# Builds `count` random models from a seed and runs them; prints one line, and exits with 1 if one
# of them differs from numpy. A model that fails is reduced and printed.
#   usage: run.sh [count [seed]]
set -eu
count=${1:-400} seed=${2:-2}
cd -- "$(dirname -- "$0")/../.."
begin=$(date +%s)
build=build-test
mkdir -p $build
log=$build/random.log
status=0
{
  cmake --preset test -DWEFT_RANDOM_MORE_MODELS="$count" -DWEFT_RANDOM_MORE_SEED="$seed" &&
    cmake --build $build --parallel "$(nproc)" --target weft_random_more_test &&
    $build/tests/random/weft_random_more_test -l error
} >"$log" 2>&1 || status=1
failed=$(grep -o 'in "random_[0-9]*"' "$log" | sort -u | grep -o '[0-9]*' || true)
wrong=$(echo "$failed" | grep -c . || true)
echo "random models: $count of seed $seed, $wrong wrong, $(($(date +%s) - begin)) s"
[ $status = 0 ] && exit 0
if [ -z "$failed" ]; then
  tail -20 "$log" >&2
else
  for number in $(echo "$failed" | head -3); do
    /usr/bin/python3 tests/random/shrink.py --build $build --target weft_random_more_test \
      --seed "$seed" "$number" || echo "random_$number was not made smaller"
  done
fi
exit 1
