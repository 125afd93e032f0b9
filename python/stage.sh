# What python/test and python/bench/run have in common: a virtual environment with the wheel in it, and a Redis, all of
# which end with the script. Sourced, in python/, by a script that has set $me, how it is called.

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

# make_environment REQUIREMENTS: at $here/venv.
make_environment() {
    "$python" -m venv "$here/venv"
    "$here/venv/bin/pip" install --quiet --disable-pip-version-check -r "$1"
}

# install_wheel OPTION...: builds the package and installs it there.
install_wheel() {
    "$here/venv/bin/maturin" build --quiet --release --locked "$@" --interpreter "$here/venv/bin/python" --out "$here/wheels"
    ls -l "$here"/wheels/*.whl
    "$here/venv/bin/pip" install --quiet --disable-pip-version-check "$here"/wheels/*.whl
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
    # They end when their stdin does: with this script, in whatever way that ends.
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
