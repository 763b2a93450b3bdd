#!/bin/sh
# Makes a virtual environment with pip, and installs the two system packages that a bare Debian lacks.
set -eu
python=$1
venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "onlooker needs Python 3.11 or newer; $python is $("$python" --version 2>&1). Remedy: make PYTHON=python3.11 ..." >&2
    exit 1
}
echo "== making $venv"

# What Debian leaves out of a bare system: ensurepip, and the OpenMP library that the embedded model is linked to.
missing=""
"$python" -c 'import ensurepip' 2>/dev/null || missing="python3-venv"
"$python" -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2>/dev/null || missing="$missing libgomp1"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "== installing Debian's $missing"
        apt-get update -qq
        # Names of packages, split on purpose.
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    else
        echo "this system lacks: $missing. Remedy, as root: apt-get install $missing; then run make again" >&2
        exit 1
    fi
fi
"$python" -m venv "$venv"
