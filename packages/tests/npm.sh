# An empty project and an empty cache, and a registry with our packages only.
# shellcheck shell=bash disable=SC2154

# start_registry: starts the registry at $npm_config_registry.
start_registry() {
    [ -z "${npm_config_registry:-}" ] || return 0
    only "$out"/seinpaal-[0-9]*.tgz >/dev/null
    node packages/tests/registry.js "$out" >"$here/registry" &
    running+=($!)
    until_true "the registry" grep -q . "$here/registry"
    export npm_config_registry npm_config_cache=$here/npm-cache npm_config_update_notifier=false
    npm_config_registry=http://127.0.0.1:$(cat "$here/registry")/
}

test_npm() {
    local began
    start_registry
    mkdir "$here/project" && echo '{ "private": true }' >"$here/project/package.json"
    began=$(date +%s%N)
    (cd "$here/project" && npm install --silent --no-audit --no-fund seinpaal)
    echo "npm install seinpaal: $((($(date +%s%N) - began) / 1000000)) ms, packages $(cd "$out" && du -bch --apparent-size seinpaal-*.tgz | tail -1 | cut -f1)"
    manners "$here/project/node_modules/.bin/seinpaal"
    mkdir "$here/elsewhere"
    is "npx takes it from the registry" "by npx" "$(cd "$here/elsewhere" && npx --yes seinpaal -s "file://$here/npx" run a -- echo by npx)"
    is "and gives its status on" 75 "$(cd "$here/elsewhere" && npx --yes seinpaal -q -s "file://$here/npx" limit a 0; npx --yes seinpaal -q -s "file://$here/npx" run a -n true || echo $?)"
    rm -rf "$here/project/node_modules/@seinpaal"
    is "without the package for this machine it says so" 70 "$("$here/project/node_modules/.bin/seinpaal" run a true 2>/dev/null || echo $?)"
}
