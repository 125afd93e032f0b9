# The program itself, and an archive of it with its manual pages and completions.
# shellcheck shell=bash disable=SC2154

build_program() {
    say "the program, for $target"
    need cargo "install Rust 1.89 or newer"
    need musl-gcc "Debian calls the package musl-tools"
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || fail "Rust cannot build for $target yet: rustup target add $target"
    env "CC_${target//-/_}=musl-gcc" cargo build --locked --profile dist --target "$target" \
        -p seinpaal-cli --features zookeeper,serve
    install -D -m 755 "$cargo_target/$target/dist/seinpaal" "$program"
    strip --remove-section=.comment "$program"
    ls -l "$program"
}

# All packages have the same program, so it is built once.
program_is_there() { [ -x "$program" ] || build_program; }

# documents DIR: the manual pages, gzipped as they are installed, and the completions.
documents() {
    mkdir -p "$1/man1" "$1/completions"
    "$program" man --to "$1/man1"
    gzip -9n "$1/man1"/*.1
    "$program" completions bash >"$1/completions/seinpaal.bash"
    "$program" completions zsh >"$1/completions/_seinpaal"
    "$program" completions fish >"$1/completions/seinpaal.fish"
}

build_tar() {
    say "an archive"
    local name=seinpaal-$version-linux-$machine
    rm -rf "$out/$name" && mkdir -p "$out/$name"
    install -m 755 "$program" "$out/$name/seinpaal"
    documents "$out/$name"
    cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$out/$name/"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
        -C "$out" -czf "$out/$name.tar.gz" "$name"
    rm -rf "${out:?}/$name"
    ls -l "$out/$name.tar.gz"
}
