#!/bin/sh
# Builds the tests of kernels, operations, models and runs for 64-bit Arm with g++'s cross compiler,
# and runs them under qemu, on NEON and on the scalar target. Prints one line, and exits with a
# nonzero status if one of them fails. Takes about twenty minutes on two cores.
set -eu
tests="kernels generate laws models ops run"
cd -- "$(dirname -- "$0")/../.."
build=$PWD/build-aarch64
root=$build/root
begin=$(date +%s)
mkdir -p "$build"
log=$build/run.log

# Runs apt-get for Arm's packages with folders in $build, so as not to change this machine's own.
arm_apt() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Acquire::Languages=none \
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
    *) echo "no packages for Arm are known for $ID" && return 1 ;;
  esac
  rm -rf "$build/apt" && mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg] $from" >"$build/apt/sources.list"
  : >"$build/apt/status"
  arm_apt update
  packages=$(arm_apt install -s --no-install-recommends libhwy-dev libboost-test-dev nlohmann-json3-dev |
    awk '/^Inst/ && $2 ~ /hwy|boost|json/ {print $2}')
  # shellcheck disable=SC2086  # a list of words
  (cd "$build/apt" && arm_apt download $packages)
  for package in "$build"/apt/*.deb; do dpkg -x "$package" "$build/apt/root"; done
  mv "$build/apt/root" "$root"
}

targets=
for test in $tests; do targets="$targets weft_${test}_test"; done
# A subshell, which ends at the first command that fails, while this script continues.
set +e
(
  set -e
  unpack
  cmake --preset aarch64
  # shellcheck disable=SC2086  # a list of words
  cmake --build --preset aarch64 --parallel "$(nproc)" --target $targets
  ctest --preset aarch64 -R "^($(echo "$tests" | tr ' ' '|'))/" -E '^generate/([^g]|.*[+])'
) >"$log" 2>&1
status=$?
set -e

passed=$(sed -n 's/^\([0-9]*% tests passed, .*\)/\1/p' "$log")
cases=
[ -z "$passed" ] || cases=" ($(awk '/^Running [0-9]+ test case/ {n += $2} END {print n + 0}' \
  "$build/Testing/Temporary/LastTest.log") cases)"
echo "aarch64: ${passed:-does not build}$cases, $(($(date +%s) - begin)) s"
[ $status = 0 ] || tail -40 "$log" >&2
exit $status
