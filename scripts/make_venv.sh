#!/bin/sh
# Makes a virtual environment with pip. Debian splits ensurepip into python3-venv, which a bare system lacks:
# then pip is put into the environment by the system's own package manager or by the pip that is there.
set -eu
python=$1
venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "onlooker needs Python 3.11 or newer; $python is $("$python" --version 2>&1). Remedy: make PYTHON=python3.11 ..." >&2
    exit 1
}
echo "== making $venv"
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    if "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --without-pip "$venv"
        "$python" -m pip --python "$venv/bin/python" install -q pip
        exit 0
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "== this Python has no ensurepip: installing Debian's python3-venv"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
    else
        echo "this Python has neither ensurepip nor pip. Remedy: apt-get install python3-venv (as root), then run make again" >&2
        exit 1
    fi
fi
"$python" -m venv "$venv"
