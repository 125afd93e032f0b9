# The image: its last stage in a root of its own, and the whole image, built from its recipe and
# run.
# shellcheck shell=bash disable=SC2154

test_stage() { in_roots in_stage; }

# The tests that need no build of the image: the program of packages/build at its place in the
# image, with no other files.
in_stage() {
    local file=packages/image/Containerfile root=$here/image status=0
    [ "$(id -u)" = 0 ] || fail "a root of our own needs root"
    is "the image builds the program as packages/build does" 1 "$(grep -c 'RUN .*packages/build program$' "$file")"
    # Besides the files of the image, a container has /proc and /dev/null.
    mkdir -p "$root/usr/bin" "$root/dev" "$root/var/lib/seinpaal" "$root/tmp"
    mknod -m 666 "$root/dev/null" c 1 3
    chmod 1777 "$root/tmp"
    mount_proc "$root"
    install -m 755 "$out/program/seinpaal" "$root/usr/bin/seinpaal"
    chown 65532:65532 "$root/var/lib/seinpaal"
    is "in a root with nothing else, as a user without rights, it runs itself" 0 "$(chroot --userspec=65532:65532 "$root" /usr/bin/seinpaal -s memory: run a /usr/bin/seinpaal -s memory: list && echo 0)"
    chroot --userspec=65532:65532 "$root" /usr/bin/seinpaal -s file:///var/lib/seinpaal/store run a -- /usr/bin/seinpaal --version || status=$?
    is "and keeps a store of its own" 0 "$status"
}

# Uses docker, or buildah if no daemon runs.
test_image() { in_roots in_image; }

in_image() {
    local file=packages/image/Containerfile
    if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
        docker build -q -f "$file" -t seinpaal-test .
        in_container() { docker run --rm --network host -v "$here/tokens:/tokens:ro" seinpaal-test "$@"; }
    else
        [ "$(id -u)" = 0 ] || fail "buildah needs root here"
        command -v buildah >/dev/null || fail "buildah is missing: apt-get install buildah, or start docker's daemon"
        image_by_buildah "$file"
    fi
    what_the_image_does
}

# stored COMMAND...: runs buildah with a storage of its own, which is removed with the test.
stored() { buildah --root "$here/images" --runroot "$here/images-run" --storage-driver vfs "$@"; }

image_by_buildah() {
    local file=$1 contexts=() began
    export BUILDAH_ISOLATION=chroot
    if ! stored pull -q docker.io/library/busybox:1-musl >/dev/null 2>&1; then
        echo "no registry of images can be reached: images made of Debian's packages and of this Rust stand in for the two bases"
        stand_in_for_rust
        stand_in_for_busybox
        contexts=(--build-context "docker.io/library/rust:1-bookworm=container-image://localhost/stand-in-rust"
            --build-context "docker.io/library/busybox:1-musl=container-image://localhost/stand-in-busybox")
    fi
    began=$(date +%s)
    stored build -q "${contexts[@]}" -f "$file" -t seinpaal-test . >"$here/build" 2>&1 || fail "the image: $(tail -20 "$here/build")"
    echo "the image, with the build of the program: $(($(date +%s) - began)) s"
    # Not local, because `in_container` uses it after this function has returned.
    container=$(stored from seinpaal-test)
    echo "what is in it: $(du -sh --apparent-size "$(stored mount "$container")" | cut -f1)"
    entry=$(stored inspect --type image --format '{{index .OCIv1.Config.Entrypoint 0}}' seinpaal-test)
    user=$(stored inspect --type image --format '{{.OCIv1.Config.User}}' seinpaal-test)
    in_container() { stored run --user "$user" -v "$here/tokens:/tokens:ro" "$container" -- "$entry" "$@"; }
}

# Makes a stand-in for the Rust image: a Debian with a C compiler and this machine's Rust, at the
# places of that image.
stand_in_for_rust() {
    local root=$here/rust toolchain container
    debian_files "$root"
    chroot "$root" apt-get install -qq --no-install-recommends gcc libc6-dev >/dev/null 2>&1 ||
        fail "cannot install a C compiler into the root"
    # The network may have a certificate authority of its own.
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    toolchain=$(rustc --print sysroot)
    mkdir -p "$root/usr/local/rustup/toolchains" "$root/usr/local/cargo/bin"
    cp -a "$toolchain" "$root/usr/local/rustup/toolchains/"
    rm -rf "$root/usr/local/rustup/toolchains"/*/share/doc
    cp -L "$(command -v rustup)" "$root/usr/local/cargo/bin/rustup"
    for proxy in cargo rustc rustdoc; do ln "$root/usr/local/cargo/bin/rustup" "$root/usr/local/cargo/bin/$proxy"; done
    container=$(stored from scratch)
    stored copy -q "$container" "$root" / >/dev/null
    stored config --env RUSTUP_HOME=/usr/local/rustup --env CARGO_HOME=/usr/local/cargo \
        --env "RUSTUP_TOOLCHAIN=$(basename "$toolchain")" \
        --env PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
    stored commit -q --rm "$container" stand-in-rust >/dev/null
    rm -rf --one-file-system "$root"
}

# Makes a stand-in for the busybox image: a statically linked shell and its commands.
stand_in_for_busybox() {
    local root=$here/busybox container
    mkdir -p "$root/debs" "$root/bin" "$root/etc" "$root/tmp"
    (cd "$root/debs" && apt-get download -qq busybox-static 2>/dev/null) || fail "apt-get cannot download busybox-static"
    dpkg-deb --fsys-tarfile "$(only "$root"/debs/busybox-static_*.deb)" | tar -xO ./bin/busybox >"$root/bin/busybox"
    chmod 755 "$root/bin/busybox" && chmod 1777 "$root/tmp" && rm -r "$root/debs"
    for command in $("$root/bin/busybox" --list); do [ -e "$root/bin/$command" ] || ln -s busybox "$root/bin/$command"; done
    echo root:x:0:0:root:/root:/bin/sh >"$root/etc/passwd"
    container=$(stored from scratch)
    stored copy -q "$container" "$root" / >/dev/null
    stored commit -q --rm "$container" stand-in-busybox >/dev/null
}

what_the_image_does() {
    local port status=0 token=0123456789abcdef0123456789abcdef
    # `serve` requires a token file that only its own user can read.
    echo "operate $token test" >"$here/tokens"
    chmod 600 "$here/tokens" && chown 65532:65532 "$here/tokens"
    is "it runs, and there is a shell" "in slot 0, 7" "$(in_container -s memory: run a -- sh -c 'printf "in slot $SEINPAAL_SLOT, "; exit 7' || echo $?)"
    is "as a user without rights" 65532 "$(in_container -s memory: run a -- id -u)"
    in_container run a -- true || status=$?
    is "it keeps a store of its own" 0 "$status"
    start_redis
    in_container -s "$redis" limit a 3 >/dev/null
    is "it reaches a server" '"limit":3' "$(in_container -s "$redis" --json list | grep -o '"limit":3')"
    port=$(free_port)
    in_container -s "$redis" serve --listen "127.0.0.1:$port" --token-file /tokens >"$here/serve" 2>&1 &
    running+=($!)
    until_true "the pages" curl -s -m 5 "http://127.0.0.1:$port/healthz"
    is "without a token nobody looks" 401 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/")"
    is "with one the page is there" 200 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' -H "authorization: Bearer $token" "http://127.0.0.1:$port/")"
}
