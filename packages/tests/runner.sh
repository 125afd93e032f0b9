# The action in a runner: act runs workflows on this machine, without containers.
# shellcheck shell=bash disable=SC2154

readonly act_version=0.2.89

test_runner() {
    local program=$out/program/seinpaal
    the_runner
    start_redis
    start_registry
    a_repository
    mkdir "$here/runner"
    the_guides_job
    a_job_that_fails
    is "of two jobs one is in at a time" 1 "$(most_at_once turns staging)"
    is "of four jobs three are in at a time" 3 "$(most_at_once boards boards)"
    is "and each in a slot of its own" "0 1 2" "$(grep -o 'slot [0-9]$' "$here/runner/boards" | sort -u | cut -d' ' -f2 | tr '\n' ' ' | sed 's/ $//')"
    a_job_that_is_cancelled
    a_job_that_is_cancelled_in_line
    a_job_that_loses_its_permit
}

# the_runner: sets $act to the runner's path. The first run installs it.
the_runner() {
    act=$out/act/act
    [ -x "$act" ] && [ "$("$act" --version)" = "act version $act_version" ] && return
    command -v go >/dev/null || fail "go is missing: Go 1.24 builds the runner"
    GOBIN=$out/act go install "github.com/nektos/act@v$act_version" >"$here/go" 2>&1 || fail "the runner: $(tail -3 "$here/go")"
}

# Makes a repository that uses the action: the guide's workflow with the script that it calls, and
# the workflow of this test.
a_repository() {
    local repository=$here/repository
    mkdir -p "$repository/.github/workflows" "$here/action/packages"
    cp -r packages/action "$here/action/packages/"
    cp packages/tests/workflow.yml "$repository/.github/workflows/jobs.yml"
    sed -n '/^## GitHub Actions/,$p' docs/guide/install.md | sed -n '/^```yaml/,/^```$/{/^```/!p}' >"$repository/.github/workflows/guide.yml"
    cat >"$repository/deploy.sh" <<-'SH'
		#!/bin/sh
		echo "deploys with fence $2: $("$PROGRAM" -s "$STORE" --json show staging)"
	SH
    # The job stays in until another one is in line or has been, so that jobs that may be in
    # together are.
    cat >"$repository/together.sh" <<-'SH'
		#!/bin/sh
		echo "in" >>"$HERE/$1.log"
		until [ -e "$HERE/$1.crowd" ]; do
		    "$PROGRAM" -s "$STORE" --json show "$1" | grep -q '"waiters":\[{' && touch "$HERE/$1.crowd"
		    sleep 0.05
		done
		echo "$@"
		echo "out" >>"$HERE/$1.log"
	SH
    chmod +x "$repository"/*.sh
    git -C "$repository" init -q -b main
    git -C "$repository" add -A
    git -C "$repository" -c user.name=test -c user.email=test@example.org commit -q -m "Jobs"
}

# runner WORKFLOW JOB: replaces the shell by the runner, with a home of its own and the action as
# OWNER/seinpaal@main.
runner() {
    local workflow=$1 job=$2
    exec env HOME="$here/runner" XDG_CACHE_HOME="$here/runner/cache" XDG_CONFIG_HOME="$here/runner/config" \
        SEINPAAL_STORE="$redis" "$act" push -C "$here/repository" -W ".github/workflows/$workflow.yml" -j "$job" \
        -P ubuntu-latest=-self-hosted --pull=false --local-repository "OWNER/seinpaal@main=$here/action" \
        --no-cache-server --concurrent-jobs 4 -s SEINPAAL_STORE --env "STORE=$redis" --env "PROGRAM=$program" \
        --env "HERE=$here/runner" --env "npm_config_registry=$npm_config_registry" --env "npm_config_cache=$npm_config_cache"
}

# carried_out WORKFLOW JOB: runs the job. Its output is in $here/runner/JOB.
carried_out() { (runner "$1" "$2") >"$here/runner/$2" 2>&1; }

# told JOB WORDS: prints how many lines of the job's output have these words.
told() { grep -c -e "$2" "$here/runner/$1" || true; }

the_guides_job() {
    carried_out guide deploy || fail "the guide's job: $(cat "$here/runner/deploy")"
    is "a job without the program installs it" 1 "$(told deploy 'installing seinpaal@latest')"
    is "the guide's job runs under the permit, and knows its fence" 1 "$(told deploy 'deploys with fence [0-9]*: .*"permits_held":1')"
    is "the post step gives it back" "1 0" "$(told deploy 'gave the permit back') $(held staging)"
}

a_job_that_fails() {
    local status=0
    carried_out jobs fails || status=$?
    is "a job that fails" 1 "$status"
    is "gives it back, too" "1 0" "$(told fails 'gave the permit back') $(held staging)"
}

# most_at_once JOB NAME: prints how many jobs of the matrix were in at the same time.
most_at_once() {
    carried_out jobs "$1" || fail "$1: $(cat "$here/runner/$1")"
    [ "$(held "$2")" = 0 ] || fail "$2 is still held"
    awk '/in/ { now++ } /out/ { now-- } now > most { most = now } END { print most }' "$here/runner/$2.log"
}

# begin_long: starts the job `long` in the background. $! is the runner.
begin_long() {
    : >"$here/runner/long"
    (runner jobs long) >"$here/runner/long" 2>&1 &
    running+=($!)
}

# end_long: waits for the end of the runner, and sets $status to its status.
end_long() {
    status=0
    wait "${running[-1]}" || status=$?
    unset 'running[-1]'
}

a_job_that_is_cancelled() {
    local status
    begin_long
    until_true "the job at work" grep -q '| it works' "$here/runner/long"
    kill -INT "${running[-1]}"
    end_long
    is "a cancelled job gives it back" "1 0" "$(told long 'gave the permit back') $(held staging)"
}

a_job_that_is_cancelled_in_line() {
    local status holder
    "$program" -s "$redis" run staging -- sleep 600 &
    holder=$!
    until_true "a holder" sh -c "'$program' -s '$redis' --json show staging | grep -q '\"permits_held\":1'"
    begin_long
    until_true "the job in line" grep -q '| .*waiting for staging, 0 ahead' "$here/runner/long"
    kill -INT "${running[-1]}"
    end_long
    is "a job that is cancelled in line leaves it" "[]" "$("$program" -s "$redis" --json show staging | python3 -c 'import json, sys; print(json.load(sys.stdin)["waiters"])')"
    kill "$holder"
    wait "$holder" || true
}

a_job_that_loses_its_permit() {
    local status ticket
    begin_long
    until_true "the job at work" grep -q '| it works' "$here/runner/long"
    ticket=$("$program" -s "$redis" --json show staging | python3 -c 'import json, sys; print(json.load(sys.stdin)["holders"][0]["ticket"])')
    "$program" -s "$redis" evict staging "$ticket"
    until_true "an end of the holder" sh -c "! '$program' -s '$redis' --json show staging | grep -q '\"permits_held\":1'"
    touch "$here/runner/enough"
    end_long
    is "a job that lost its permit fails" "1 1" "$status $(told long 'the permit was lost before the job ended')"
}
