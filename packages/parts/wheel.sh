# The Python package, with the program beside it: pip puts a script of a wheel on PATH.
# shellcheck shell=bash disable=SC2154

build_wheel() {
    say "the wheel"
    local python=${PYTHON:-python3} here
    need "$python" "install Python 3.10 or newer, or name one with PYTHON"
    here=$(mktemp -d)
    # A subshell, so that its trap removes the directory, even after an error.
    (
        trap 'rm -rf "$here"' EXIT
        "$python" -m venv "$here/venv"
        "$here/venv/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2' 'wheel>=0.45,<1'
        (cd python && "$here/venv/bin/maturin" build --quiet --profile dist --locked --features zookeeper \
            --interpreter "$here/venv/bin/python" --out "$here/module")
        with_the_program "$here"
    )
    ls -l "$out"/seinpaal-*.whl
}

# with_the_program DIR: puts the program into the wheel that is in DIR/module. Maturin could do so if the program lay in the
# source tree, where a test that builds the module meanwhile would find it, too.
with_the_program() {
    local wheel=("$1/venv/bin/python" -m wheel)
    "${wheel[@]}" unpack --dest "$1/unpacked" "$1"/module/seinpaal-*.whl >/dev/null
    install -D -m 755 "$program" "$1/unpacked/seinpaal-$version/seinpaal-$version.data/scripts/seinpaal"
    rm -f "$out"/seinpaal-*.whl
    "${wheel[@]}" pack --dest-dir "$out" "$1/unpacked/seinpaal-$version" >/dev/null
}
