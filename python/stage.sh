# The common part of python/test and python/bench/run: a virtual environment with the wheel in it,
# and a Redis, which end with the script. A script that has set its name, $me, sources this file in
# python/.

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf '%s: %s\n' "$me" "$*" >&2
    exit 1
}

python=${PYTHON:-python3}
here=$(mktemp -d)
redis_pid=
servers_pid=
end() {
    [ -z "$redis_pid" ] || kill "$redis_pid" 2>/dev/null || true
    end_servers
    rm -rf "$here"
}
trap end EXIT
export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"

# needs VERSION COMMAND...: fails if Python is older, or a command is missing.
needs() {
    local command
    "$python" -c "import sys; sys.exit(sys.version_info < (${1/./, }))" || fail "$python is older than Python $1"
    shift
    for command in "$@"; do
        command -v "$command" >/dev/null || fail "$command is missing"
    done
}

# make_environment REQUIREMENTS: at $here/venv. There is no mypy for a free-threaded 3.13.
make_environment() {
    local without=nothing
    ! is_free_threaded_3_13 || without=mypy
    "$python" -m venv "$here/venv"
    sed "/^$without/d" "$1" >"$here/requirements.txt"
    "$here/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
}

# says EXPRESSION: succeeds if the expression is true in this Python.
says() { "$python" -c "import sys, sysconfig; sys.exit(not ($1))"; }

is_free_threaded() { says 'sysconfig.get_config_var("Py_GIL_DISABLED")'; }

is_free_threaded_3_13() { is_free_threaded && says 'sys.version_info < (3, 14)'; }

# install_wheel FEATURES: builds the package with them and installs it there. A free-threaded Python has no stable ABI.
install_wheel() {
    local tree=. target build=(--quiet --release --locked --features "${1:-}")
    target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    ! is_free_threaded || build+=(--no-default-features)
    ! is_free_threaded_3_13 || tree_with_older_pyo3
    (cd "$tree" && CARGO_TARGET_DIR=$target "$here/venv/bin/maturin" build "${build[@]}" \
        --interpreter "$here/venv/bin/python" --out "$here/wheels")
    ls -l "$here"/wheels/*.whl
    "$here/venv/bin/pip" install --quiet --disable-pip-version-check "$here"/wheels/*.whl
}

# tree_with_older_pyo3: at $tree, a copy of the package whose lock has the last PyO3 that knows a free-threaded 3.13.
tree_with_older_pyo3() {
    tree=$here/tree/python
    mkdir -p "$tree"
    cp -R Cargo.toml Cargo.lock pyproject.toml README.md rust src "$tree"
    ln -s "$PWD/../crates" "$PWD/../Cargo.toml" "$here/tree"
    (cd "$tree" && cargo update --quiet -p pyo3 --precise 0.28.3)
}

# start_redis: at $redis.
start_redis() {
    local port
    port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    redis-server --bind 127.0.0.1 --port "$port" --save '' --dir "$here" >"$here/redis.log" &
    redis_pid=$!
    redis=redis://127.0.0.1:$port
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
        kill -0 "$redis_pid" 2>/dev/null || fail "redis-server did not start: $(tail -1 "$here/redis.log")"
        sleep 0.1
    done
    fail "redis-server does not answer"
}

# start_servers KIND...: servers of other stores, by the rig of the crates; `KIND URL` lines are in $servers.
start_servers() {
    local line
    # The servers end when their stdin does, and so with this script, also if the script is killed.
    coproc RIG { cd .. && exec cargo run --quiet --locked -p seinpaal-rig --example servers -- "$@"; }
    servers_pid=$RIG_PID
    servers=
    while read -r line <&"${RIG[0]}"; do
        [ "$line" != started ] || return 0
        servers+=$line$'\n'
    done
    fail "the servers of other stores did not start"
}

end_servers() {
    [ -n "$servers_pid" ] || return 0
    exec {RIG[1]}>&-
    wait "$servers_pid" || true
    servers_pid=
}
