# A Debian 12 with nothing but its essential packages, made once by debootstrap; each test has a copy.
# shellcheck shell=bash disable=SC2154

# debian_root DIR: makes a root of its own at DIR, with /proc.
debian_root() {
    debian_files "$1"
    mount_proc "$1"
}

# debian_files DIR: makes the files of a root.
debian_files() {
    local kept=$out/bookworm
    [ "$(id -u)" = 0 ] || fail "a root of our own needs root"
    command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
    [ -e "$kept/made" ] || {
        rm -rf "$kept"
        debootstrap --variant=minbase --include=ca-certificates bookworm "$kept" >"$here/debootstrap.log" ||
            fail "debootstrap failed: $(tail -1 "$here/debootstrap.log")"
        # minbase keeps manual pages, but has no program to read them.
        chroot "$kept" apt-get install -qq --no-install-recommends man-db systemd >/dev/null 2>&1 ||
            fail "cannot install man-db and systemd into the root"
        touch "$kept/made"
    }
    cp -a "$kept" "$1"
}

# in_roots COMMAND...: runs the command, and leaves no mount and no process behind, even after an
# error.
in_roots() {
    mounted=()
    (
        running=()
        trap leave_roots EXIT
        "$@"
    )
}

leave_roots() {
    local root one
    for one in "${running[@]}"; do
        # A function in the background is a shell, and the program that it runs is a child of that
        # shell.
        pkill -P "$one" 2>/dev/null || true
        kill "$one" 2>/dev/null || true
    done
    # The first process of the system reacts to no other signal, and all its processes end with it.
    [ -z "${booted:-}" ] || kill -KILL "$booted" 2>/dev/null || true
    wait
    for root in "${mounted[@]}"; do umount "$root" || true; done
}

mount_proc() {
    mkdir -p "$1/proc" && mount -t proc proc "$1/proc"
    mounted+=("$1/proc")
}

files_of() { (cd "$1" && find . -xdev \( -path ./proc -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt \) -prune -o -print | sort); }

test_deb() { in_roots in_debian; }

in_debian() {
    local deb root=$here/debian began left unit
    deb=$(only "$out"/seinpaal_*.deb)
    debian_root "$root"
    files_of "$root" >"$here/before"
    cp "$deb" "$root/tmp/seinpaal.deb"
    began=$(date +%s%N)
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends /tmp/seinpaal.deb >"$here/apt" 2>&1 ||
        fail "apt-get install: $(cat "$here/apt")"
    echo "apt-get install ./seinpaal.deb: $((($(date +%s%N) - began) / 1000000)) ms, package $(size "$deb"), it depends on nothing"
    rm "$root/tmp/seinpaal.deb"
    is "run works" "in slot 0, 7" "$(chroot "$root" sh -c 'seinpaal run a -- sh -c "printf \"in slot \$SEINPAAL_SLOT, \"; exit 7" || echo $?')"
    is "the manual is there" "SEINPAAL-RUN(1)" "$(chroot "$root" env MANWIDTH=80 man seinpaal-run 2>/dev/null | tr -d '\b' | grep -o -m1 -i '^seinpaal-run(1)' | tr a-z A-Z)"
    is "so is that of each command" "$(commands_of "$out/program/seinpaal")" "$(find "$root/usr/share/man/man1" -name 'seinpaal*' | wc -l)"
    is "bash completes" "run" "$(chroot "$root" bash -c '. /usr/share/bash-completion/completions/seinpaal; COMP_WORDS=(seinpaal ru); COMP_CWORD=1; _seinpaal seinpaal ru seinpaal; echo "${COMPREPLY[@]}"')"
    unit=/usr/lib/systemd/system/seinpaal-serve.service
    chroot "$root" systemd-analyze verify "$unit" || fail "systemd does not take the unit"
    echo "ok: systemd takes the unit, and says of it: $(chroot "$root" systemd-analyze security --offline=true "$unit" | tail -1)"
    is "the service is not enabled" "" "$(find "$root/etc/systemd/system" -name 'seinpaal*')"
    is "only root reads the store's URL" "600 root" "$(stat -c '%a %U' "$root/etc/default/seinpaal-serve")"
    the_service_serves "$root"
    is "lintian finds nothing" "" "$(lint "$deb")"
    is "what is installed can be verified" "" "$(chroot "$root" dpkg --verify seinpaal)"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get purge -qq seinpaal >"$here/apt" 2>&1 || fail "purge: $(cat "$here/apt")"
    # Removes the files that the test's own commands have left: runs as root, and systemd-analyze.
    rm -rf "$root"/root/.local "$root"/run/seinpaal* "$root"/root/.cache "$root"/run/systemd
    left=$(files_of "$root" | comm -13 "$here/before" - | grep -v -e '^./etc/.*-$' || true)
    is "purge leaves nothing" "" "$left"
    is "not even the user" "" "$(grep seinpaal "$root/etc/passwd" "$root/etc/group" || true)"
}

# commands_of PROGRAM: prints the expected number of manual pages: the program's own, and one for
# each command in its help.
commands_of() {
    { "$1" -h; "$1" queue -h; } | awk '/^Commands:/ { lists = 1; next } /^$/ { lists = 0 } lists && $1 != "help"' | wc -l | awk '{ print $1 + 1 }'
}

# Runs the service without systemd, as the unit's user and with its command line.
the_service_serves() {
    local root=$1 port token command
    port=$(free_port)
    token=$(chroot "$root" cut -d' ' -f2 /etc/seinpaal/tokens)
    is "the token is its service's alone" "600 seinpaal" "$(chroot "$root" stat -c '%a %U' /etc/seinpaal/tokens)"
    command=$(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/seinpaal-serve.service" |
        sed "s/\$SEINPAAL_SERVE_OPTIONS/--listen 127.0.0.1:$port/")
    chroot "$root" install -d -o seinpaal -m 700 /var/lib/seinpaal
    chroot "$root" setpriv --reuid seinpaal --regid seinpaal --clear-groups --no-new-privs --bounding-set=-all \
        env HOME=/var/lib/seinpaal SEINPAAL_STORE=memory: sh -c "exec $command" 2>"$here/serve" &
    running+=($!)
    until_true "the service" curl -s -m 5 "http://127.0.0.1:$port/healthz"
    is "without the token nobody looks" 401 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/")"
    is "with it the page is there" 200 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' -H "authorization: Bearer $token" "http://127.0.0.1:$port/")"
    kill "${running[-1]}"
    wait "${running[-1]}" || fail "the service ended with $?"
    unset 'running[-1]'
}

# Fails at errors and warnings of Debian's own checker, except those that packages/deb/overrides
# lists with reasons.
lint() {
    if ! command -v lintian >/dev/null; then return; fi
    lintian --allow-root --fail-on none "$1" 2>/dev/null | grep '^[EW]:' || true
}
