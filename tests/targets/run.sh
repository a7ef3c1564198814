#!/bin/sh
# Builds tests for another processor and runs them. With g++'s cross compiler and qemu: aarch64 on NEON
# and on the scalar target, ppc64le on the scalar target, which is the only one that Highway 1.0.3 has
# there; about twenty minutes on two cores. With ziglang's clang and node: wasm on its 128-bit vectors;
# and the page of examples/web in Chromium, where that is installed. Prints one line for the tests, and
# one for the page; exits with a nonzero status if one of them fails.
#   run.sh aarch64|ppc64le|wasm [ci | folder of tests...]
# With `ci`, kernels alone are tested, on the best target, in about a minute, and no page is made.
set -eu
target=${1:-}
case $target in
  aarch64) architecture=arm64 all="bits kernels generate laws models ops run" skip= ;;
  # What takes longest is left out: one lane at a time is slow under emulation.
  ppc64le) architecture=ppc64el all="bits kernels ops" skip='|^kernels/functions$' ;;
  wasm) architecture=wasm32 all="bits kernels laws models ops" skip= ;;
  *) sed -n '7,8s/^# *//p' "$0" >&2; exit 2 ;;
esac
shift
options=
tests=${*:-$all}
if [ "$tests" = ci ]; then
  options=-DWEFT_ALL_TARGETS=OFF
  tests=kernels skip='|^kernels/(attention_adjoint|elementwise|functions|rowwise)$'
  # The cases that take longest under emulation, for Boost.Test.
  BOOST_TEST_RUN_FILTERS=$(printf ':!*/%s*' products_larger the_epilogue_is_applied_once each_query_sees \
    relative_biases_depend keys_and_values_of_bfloat16 offsets_and_lengths)
  export BOOST_TEST_RUN_FILTERS
fi
cd -- "$(dirname -- "$0")/../.."
build=$PWD/build-$target
root=$build/root
begin=$(date +%s)
mkdir -p "$build"
log=$build/run.log

# Runs apt-get for the target's packages with folders in $build, so as not to change this machine's own.
target_apt() {
  apt-get -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Acquire::Languages=none \
    -o Dir::Etc::sourcelist="$build/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$build/apt/lists" -o Dir::State::status="$build/apt/status" \
    -o Dir::Cache="$build/apt" "$@"
}

# Unpacks the libraries that the tests need into $root, from the release that this machine runs. The
# C and C++ libraries come with the cross compiler.
unpack() {
  [ ! -d "$root" ] || return 0
  # shellcheck source=/dev/null
  . /etc/os-release
  case $ID in
    debian) from="http://deb.debian.org/debian $VERSION_CODENAME main" ;;
    ubuntu) from="http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME main universe" ;;
    *) echo "no packages for $target are known for $ID" && return 1 ;;
  esac
  rm -rf "$build/apt" && mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg] $from" >"$build/apt/sources.list"
  : >"$build/apt/status"
  target_apt update
  packages=$(target_apt install -s --no-install-recommends libhwy-dev libboost-test-dev nlohmann-json3-dev |
    awk '/^Inst/ && $2 ~ /hwy|boost|json/ {print $2}')
  # shellcheck disable=SC2086  # a list of words
  (cd "$build/apt" && target_apt download $packages)
  for package in "$build"/apt/*.deb; do dpkg -x "$package" "$build/apt/root"; done
  mv "$build/apt/root" "$root"
}

targets=
for test in $tests; do targets="$targets weft_${test}_test"; done
# A subshell, which ends at the first command that fails, while this script continues.
set +e
(
  set -e
  [ "$target" = wasm ] || unpack  # see tests/targets/wasm/toolchain.cmake
  # shellcheck disable=SC2086  # none, or one
  cmake --preset "$target" $options
  # shellcheck disable=SC2086  # a list of words
  cmake --build --preset "$target" --parallel "$(nproc)" --target $targets
  ctest --preset "$target" --parallel "$(nproc)" -R "^($(echo "$tests" | tr ' ' '|'))/" -E "^generate/([^g]|.*[+])$skip"
) >"$log" 2>&1
status=$?
set -e

passed=$(sed -n 's/^\([0-9]*% tests passed, .*\)/\1/p' "$log")
cases=
[ -z "$passed" ] || cases=" ($(awk '/^Running [0-9]+ test case/ {n += $2} END {print n + 0}' \
  "$build/Testing/Temporary/LastTest.log") cases)"
echo "$target: ${passed:-does not build}$cases, $(($(date +%s) - begin)) s"
[ $status = 0 ] || tail -40 "$log" >&2
if [ "$target" = wasm ] && [ "$*" != ci ] && [ $status = 0 ]; then
  page=$build/examples/web/web.html
  if ! cmake --build --preset wasm --target web >"$log" 2>&1; then
    echo "page: does not build" && tail -40 "$log" >&2 && exit 1
  elif command -v chromium >/dev/null; then
    node examples/web/test.mjs "$page" 300 "$build/examples/web" || status=$?
  else
    echo "page: built, but not tested: there is no chromium"
  fi
fi
exit $status
