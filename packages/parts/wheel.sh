# The Python package, with the program beside it: a file below `seinpaal._native.data/scripts` is put on PATH by pip.
# shellcheck shell=bash disable=SC2154

build_wheel() {
    say "the wheel"
    local python=${PYTHON:-python3} here data=$PWD/python/seinpaal._native.data
    need "$python" "install Python 3.10 or newer, or name one with PYTHON"
    here=$(mktemp -d)
    mkdir -p "$data/scripts"
    install -m 755 "$program" "$data/scripts/seinpaal"
    # A subshell, so that what is put into the source tree goes, however this ends.
    (
        trap 'rm -rf "$here" "$data"' EXIT
        "$python" -m venv "$here/venv"
        "$here/venv/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
        rm -f "$out"/seinpaal-*.whl
        cd python
        "$here/venv/bin/maturin" build --quiet --profile dist --locked --features zookeeper \
            --interpreter "$here/venv/bin/python" --out "$out"
    )
    ls -l "$out"/seinpaal-*.whl
}
