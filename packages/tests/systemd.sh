# Real systemd and cron in a Debian of their own: the service of the package, and the units and
# lines of the guide.
# shellcheck shell=bash disable=SC2154

test_systemd() { in_roots in_systemd; }

in_systemd() {
    local root=$here/systemd
    debian_files "$root"
    cp "$(only "$out"/seinpaal_*.deb)" "$root/root/seinpaal.deb"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends cron /root/seinpaal.deb >"$here/apt" 2>&1 ||
        fail "apt-get install: $(cat "$here/apt")"
    start_redis
    a_job "$root"
    boot "$root"
    a_service_serves "$root"
    a_leader_gives_back
    a_timer_runs_its_job_once "$root"
    cron_runs_its_lines "$root"
}

# a_job ROOT: makes a stand-in for the command of every recipe. It logs its argument, and a leader
# stays.
a_job() {
    cat >"$1/usr/bin/job" <<'END'
#!/bin/sh
echo "$1 $SEINPAAL_NAME" >>/var/log/job
[ "$1" != leader ] || exec sleep 1000
[ "$1" != nightly.sh ] || sleep 3
END
    chmod 755 "$1/usr/bin/job"
}

# boot ROOT: starts systemd as the first process there, in namespaces of its own except for the
# network.
boot() {
    setsid unshare --mount --pid --fork --uts --ipc --cgroup --kill-child bash -eu -c '
        mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1"
        mount -t proc proc proc && mount -t sysfs sysfs sys && mount -t tmpfs tmpfs run && mount -t tmpfs tmpfs tmp
        mkdir -p run/lock mnt/old && mount --rbind /dev dev
        if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
            mount -t cgroup2 cgroup2 sys/fs/cgroup
        else
            mount -t tmpfs tmpfs sys/fs/cgroup && mkdir sys/fs/cgroup/systemd
            mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
        fi
        pivot_root . mnt/old && cd / && umount -l /mnt/old
        exec /usr/bin/env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
    ' boot "$1" </dev/null >"$here/boot" 2>&1 &
    booted=$!
    until_true "systemd" is_up
    echo "ok: $(there systemctl --version | head -1) is $(there systemctl is-system-running || true)"
}

# there COMMAND...: runs the command in that system.
there() {
    timeout 120 nsenter -t "$(cut -d' ' -f1 "/proc/$booted/task/$booted/children")" -m -p -u -i -C -r -w "$@"
}

is_up() { there systemctl is-system-running | grep -q -e running -e degraded; }

# result_of UNIT: prints systemd's result for the unit.
result_of() { there systemctl show -p Result --value "$1"; }

# Checks the service of the package, with all restrictions of its unit.
a_service_serves() {
    local port token
    port=$(free_port)
    token=$(cut -d' ' -f2 "$1/etc/seinpaal/tokens")
    printf 'SEINPAAL_STORE=%s\nSEINPAAL_SERVE_OPTIONS="--listen 127.0.0.1:%s"\n' "$redis" "$port" >"$1/etc/default/seinpaal-serve"
    there systemctl start seinpaal-serve
    until_true "the service" curl -s -m 5 "http://127.0.0.1:$port/healthz"
    is "without the token nobody looks" 401 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/")"
    is "with it the page is there" 200 "$(curl -s -m 20 -o /dev/null -w '%{http_code}' -H "authorization: Bearer $token" "http://127.0.0.1:$port/")"
    there systemctl stop seinpaal-serve
    is "a service that is stopped has not failed" success "$(result_of seinpaal-serve)"
    units "$1"
}

# units ROOT: installs the units of the guide, with an existing store and job, and with five seconds
# instead of an hour.
units() {
    mkdir -p "$here/blocks"
    python3 -m venv "$here/yaml"
    "$here/yaml/bin/pip" install --quiet --disable-pip-version-check 'pyyaml>=6,<7'
    "$here/yaml/bin/python" packages/tests/recipes.py "$here/blocks" docs/guide/schedules.md docs/guide/install.md >/dev/null
    local unit
    for unit in reports.service reports.timer leader.service; do
        sed -e "s,redis://cache.example,$redis," -e "s,-- /usr/bin/true,-- /usr/bin/job ${unit%.service}," \
            -e 's,^OnCalendar=.*,OnCalendar=*:*:0/5,' -e 's,^RandomizedDelaySec=.*,AccuracySec=1s,' \
            "$here/blocks/$unit" >"$1/etc/systemd/system/$unit"
    done
    there systemctl daemon-reload
}

a_leader_gives_back() {
    there systemctl start leader
    until_true "a leader" listed leader
    there systemctl stop leader
    is "a unit whose run was stopped has not failed" success "$(result_of leader)"
    is "and its permit is free" "" "$("$out/program/seinpaal" -s "$redis" list leader)"
}

listed() { "$out/program/seinpaal" -s "$redis" --json list "$1" | grep -q '"permits_held":1'; }

a_timer_runs_its_job_once() {
    there systemctl start reports.timer
    seconds=40 until_true "two ticks" has_ticked_twice
    there systemctl stop reports.timer
    is "of two ticks in an hour one runs the job" 1 "$(grep -c '^reports' "$1/var/log/job")"
}

has_ticked_twice() { [ "$(there journalctl --no-pager -u reports.service | grep -c Finished)" -ge 2 ]; }

# Runs the guide's lines every minute instead of at their times. One of the two jobs at `nightly`
# takes the turn, and the other leaves.
cron_runs_its_lines() {
    local log=$1/var/log/job
    printf 'store = "%s"\n' "$redis" >"$1/etc/seinpaal.toml"
    : >"$log"
    sed -n 's,^\(seinpaal run .*\) -- .*/\([a-z.]*\)$,* * * * * root \1 -- /usr/bin/job \2,p' "$here/blocks/crontab" >"$1/etc/cron.d/guide"
    is "lines of a crontab" 6 "$(wc -l <"$1/etc/cron.d/guide")"
    seconds=90 until_true "the first minute" has_run_all "$log"
    sleep 1
    rm "$1/etc/cron.d/guide"
    is "cron ran what the lines say" "backup.sh heavy hourly.sh hourly nightly.sh nightly reindex.sh heavy reports.sh reports" "$(sort "$log" | tr '\n' ' ' | sed 's, $,,')"
}

has_run_all() { [ "$(wc -l <"$1")" -ge 5 ]; }
