#!/bin/bash
# What the agent's own terminal costs: tests/bench/terminal_cost.sh BUILD_DIR [ROUNDS]
#
# Bytes from `cat` to the operator's terminal, and a key's way to the program and its echo's way back, bare, under
# script(1) and under the fence, interleaved; the medians, and ratios.  As an ordinary user (root becomes uid
# 65534) in a scratch home.
set -u

build=$(realpath "${1:?usage: terminal_cost.sh BUILD_DIR [ROUNDS]}") || exit 2
rounds=${2:-9}
top=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d /tmp/pale-terminal-XXXXXX) || exit 2
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin home=$scratch/home run=$scratch/run
mkdir -p "$bin" "$home/ws" "$run" && chmod 755 "$scratch" && chmod 700 "$run"
cp "$build"/{pale,pale-helper,libpale.so} "$top/terminal_cost.py" "$bin/" || exit 2
as=()
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 "$home" "$run"
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
cd "$home/ws" || exit 2
yes 'a line of a program that says how far it has come, seventy-nine columns' | head -c 40000000 >big
"${as[@]}" env -i PATH="$bin:/usr/bin:/bin" "HOME=$home" "XDG_RUNTIME_DIR=$run" LANG=C.UTF-8 TERM=xterm \
	python3 "$bin/terminal_cost.py" "$rounds"
