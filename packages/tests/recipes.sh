# Checks that the blocks of the guide are valid YAML, units, lines of a crontab, and shell.
# shellcheck shell=bash disable=SC2154

test_recipes() {
    local folder=$here/recipes line command lines=0 units
    mkdir -p "$folder/bin"
    python3 -m venv "$here/yaml"
    "$here/yaml/bin/pip" install --quiet --disable-pip-version-check 'pyyaml>=6,<7' kubernetes-validate==1.37.0
    "$here/yaml/bin/python" packages/tests/recipes.py "$folder" docs/guide/schedules.md docs/guide/install.md
    kubernetes_takes "$folder"
    install -m 755 "$out/program/seinpaal" "$folder/bin/seinpaal"
    # Each line runs with `true` as the command, and with a second instead of minutes.
    while read -r line; do
        [ "${line%% *}" = run ] || continue
        command=$(sed -e 's, -- .*, -- true,' <<<"$line")
        # shellcheck disable=SC2086
        SEINPAAL_STORE=file://$folder/store "$folder/bin/seinpaal" $command || fail "status $? of: $command"
        lines=$((lines + 1))
    done <"$folder/lines"
    [ "$lines" -ge 8 ] || fail "only $lines lines were found"
    echo "ok: $lines lines of cron and of containers run"
    for block in "$folder"/*.sh; do
        PATH=$folder/bin:$PATH SEINPAAL_STORE=file://$folder/store sh -eu "$block" || fail "$block: status $?"
    done
    echo "ok: the lines of shell run"
    units=$(cd "$folder" && echo ./*.service ./*.timer)
    if [ "$(id -u)" = 0 ] && [ -e "$out/bookworm/made" ]; then
        cp -r "$folder" "$out/bookworm/tmp/recipes" && install -m 755 "$folder/bin/seinpaal" "$out/bookworm/usr/bin/seinpaal"
        # shellcheck disable=SC2086
        chroot "$out/bookworm" sh -c "cd /tmp/recipes && systemd-analyze verify $units" || fail "systemd does not take the units"
        rm -rf "$out/bookworm/tmp/recipes" "$out/bookworm/usr/bin/seinpaal"
        echo "ok: systemd takes the units: $units"
    else
        fail "units are checked in the root that packages/test deb makes: run that first, as root"
    fi
}

# kubernetes_takes FOLDER: checks that every field of its manifests is in the schemas of Kubernetes,
# of an old version, too.
kubernetes_takes() {
    local validate=("$here/yaml/bin/kubernetes-validate" --strict --quiet) manifest version misspelt=$here/misspelt.yaml
    for manifest in "$1"/*.yaml; do
        for version in 1.25 1.37; do
            "${validate[@]}" -k "$version" "$manifest" || fail "Kubernetes $version does not take $(cat "$manifest")"
        done
        sed 's/restartPolicy/restartPolice/; s/replicas/replica/' "$manifest" >"$misspelt"
        ! "${validate[@]}" "$misspelt" >/dev/null 2>&1 || fail "a misspelt field was not found"
    done
    echo "ok: Kubernetes takes the manifests: $(cd "$1" && cat ./*.yaml | grep ^kind: | tr '\n' ' ')"
}
