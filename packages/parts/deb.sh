# The Debian package: the program, manual pages, completions, and a service that is not started.
# shellcheck shell=bash disable=SC2154

build_deb() {
    say "the Debian package"
    local root share size script
    need dpkg-deb "Debian calls the package dpkg"
    root=$(mktemp -d)
    chmod 755 "$root"
    share=$root/usr/share
    install -D -m 755 "$program" "$root/usr/bin/seinpaal"
    documents "$root/documents"
    install -d "$share/man" "$share/doc/seinpaal/examples"
    mv "$root/documents/man1" "$share/man/man1"
    install -D -m 644 "$root/documents/completions/seinpaal.bash" "$share/bash-completion/completions/seinpaal"
    install -D -m 644 "$root/documents/completions/_seinpaal" "$share/zsh/vendor-completions/_seinpaal"
    install -D -m 644 "$root/documents/completions/seinpaal.fish" "$share/fish/vendor_completions.d/seinpaal.fish"
    rm -r "$root/documents"
    gzip -9n <CHANGELOG.md >"$share/doc/seinpaal/CHANGELOG.md.gz"
    changelog | gzip -9n >"$share/doc/seinpaal/changelog.gz"
    copyright >"$share/doc/seinpaal/copyright"
    install -m 644 packages/deb/seinpaal.toml "$share/doc/seinpaal/examples/seinpaal.toml"
    install -D -m 644 packages/deb/overrides "$share/lintian/overrides/seinpaal"
    install -D -m 644 packages/deb/seinpaal-serve.service "$root/usr/lib/systemd/system/seinpaal-serve.service"
    install -D -m 600 packages/deb/seinpaal-serve.default "$root/etc/default/seinpaal-serve"
    find "$root" -type d -exec chmod 755 {} +
    size=$(du -sk "$root" | cut -f1)
    install -d "$root/DEBIAN"
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$deb_machine/; s/@SIZE@/$size/; s/@MAINTAINER@/$maintainer/" packages/deb/control >"$root/DEBIAN/control"
    echo /etc/default/seinpaal-serve >"$root/DEBIAN/conffiles"
    (cd "$root" && find usr etc -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    for script in postinst prerm postrm; do install -m 755 "packages/deb/$script" "$root/DEBIAN/$script"; done
    rm -f "$out"/seinpaal_*.deb
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
    rm -rf "$root"
    ls -l "$out"/seinpaal_*.deb
}

# The changelog for Debian's tools. It has an entry for this version, and the place of the list of
# changes.
changelog() {
    printf 'seinpaal (%s) unstable; urgency=medium\n\n' "$version"
    printf '  * As built by its authors. CHANGELOG.md.gz beside this file says what changed.\n\n'
    printf ' -- %s  %s\n' "$maintainer" "$(git log -1 --format=%cD)"
}

# Every Debian has the text of Apache-2.0, but none has the text of MIT, so that text is included.
copyright() {
    cat <<-'TEXT'
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

		Files: *
		Copyright: The Seinpaal authors
		License: Expat or Apache-2.0

		License: Apache-2.0
		 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

		License: Expat
	TEXT
    sed -e '1,/^$/d' -e 's/^$/./' -e 's/^/ /' LICENSE-MIT
}
