# Two npm packages: `seinpaal`, which has a script, and a package with the program for one kind of
# machine, on which `seinpaal` depends.
# shellcheck shell=bash disable=SC2154

build_npm() {
    say "the npm packages"
    local here
    need npm "install Node.js"
    here=$(mktemp -d)
    cp -r packages/npm/seinpaal "$here/seinpaal"
    cp -r packages/npm/platform "$here/platform"
    mkdir -p "$here/platform/bin"
    install -m 755 "$program" "$here/platform/bin/seinpaal"
    sed -i "s/@VERSION@/$version/g; s/@MACHINE@/$npm_machine/g; s/@MAINTAINER@/$maintainer/g" "$here"/*/package.json "$here"/*/README.md
    cp LICENSE-APACHE LICENSE-MIT "$here/seinpaal/"
    cp LICENSE-APACHE LICENSE-MIT "$here/platform/"
    rm -f "$out"/seinpaal-*.tgz
    for package in seinpaal platform; do
        npm pack --silent --pack-destination "$out" "$here/$package" >/dev/null
    done
    rm -rf "$here"
    ls -l "$out"/seinpaal-*.tgz
}
