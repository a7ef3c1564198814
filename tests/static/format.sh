#!/bin/sh
# Checks that sources are laid out as clang-format does it; `clang-format -i` mends it. With a stamp,
# only those are read that have changed since the last check that found nothing.
#   format.sh [clang-format [stamp]]
set -eu
format=${1:-clang-format} stamp=${2:-}
cd -- "$(dirname -- "$0")/../.."
changed=
[ ! -e "$stamp" ] || [ -n "$(find .clang-format -newer "$stamp")" ] || changed="-newer $stamp"
[ -z "$stamp" ] || : >"$stamp.new"
# shellcheck disable=SC2086  # none, or two words
find include lib tests benchmarks examples \( -name '*.[hc]pp' -o -name '*.h' \) $changed |
  sort | xargs -r "$format" --dry-run -Werror
[ -z "$stamp" ] || mv "$stamp.new" "$stamp"
