# The action's two steps, called as a runner calls them.
# shellcheck shell=bash disable=SC2154

# step SCRIPT [INPUT=VALUE...]: runs a step. Its output is in $here/step.
step() {
    local script=$1 status=0
    shift
    env GITHUB_OUTPUT="$here/output" GITHUB_STATE="$here/state" RUNNER_TEMP="$here" GITHUB_JOB=build \
        GITHUB_REPOSITORY=owner/project GITHUB_RUN_ID=42 "$@" node "packages/action/$script.js" >"$here/step" 2>&1 || status=$?
    return $status
}

# post: runs the post step with the state that the main step left.
post() {
    local state
    mapfile -t state < <(sed 's/^/STATE_/' "$here/state")
    step post "${state[@]}" "$@"
}

held() { "$program" -s "$redis" --json show "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["permits_held"])'; }

anew() { rm -f "$here/output" "$here/state"; touch "$here/output" "$here/state"; }

test_action() {
    local program=$out/program/seinpaal status ticket
    start_redis
    with=("INPUT_NAME=staging" "INPUT_STORE=$redis" "INPUT_PROGRAM=$program" "INPUT_PERMITS=1" "INPUT_PRIORITY=0")
    anew && step main "${with[@]}" || fail "the main step: $(cat "$here/step")"
    is "the step ends and the permit is held" 1 "$(held staging)"
    is "the slot is an output" "slot=0" "$(grep slot= "$here/output")"
    is "the job is known by its labels" "build" "$("$program" -s "$redis" --json show staging | python3 -c 'import json, sys; print(json.load(sys.stdin)["holders"][0]["labels"]["job"])')"
    ! grep -q "$redis" "/proc/$(sed -n 's/^pid=//p' "$here/state")/cmdline" || fail "the store's URL is in ps"
    mv "$here/state" "$here/state-of-the-first" && anew
    status=0 && step main "${with[@]}" INPUT_WAIT=300ms || status=$?
    is "who waits too long fails" 1 "$status"
    is "and says why" 1 "$(grep -c '::error.*staging' "$here/step")"
    post && is "and has nothing to give back" 1 "$(held staging)"
    mv "$here/state-of-the-first" "$here/state"
    post && is "the post step gives it back" 0 "$(held staging)"

    anew && step main "${with[@]}"
    ticket=$(sed -n 's/^ticket=//p' "$here/output")
    "$program" -s "$redis" evict staging "$ticket"
    until_true "the end of the holder" sh -c "! kill -0 $(sed -n 's/^pid=//p' "$here/state")"
    status=0 && post || status=$?
    is "a permit that was lost fails the job" 1 "$status"
    is "and says so" 1 "$(grep -c 'the permit was lost before the job ended' "$here/step")"

    anew && post && is "after a main step that never began the post step does nothing" "" "$(cat "$here/step")"

    a_cancelled_job_leaves_the_line
    the_action_installs_the_program
}

a_cancelled_job_leaves_the_line() {
    local step_pid
    anew
    "$program" -s "$redis" run staging -- sleep 60 &
    running+=($!)
    until_true "a holder" sh -c "'$program' -s '$redis' --json show staging | grep -q '\"permits_held\":1'"
    env GITHUB_OUTPUT="$here/output" GITHUB_STATE="$here/state" RUNNER_TEMP="$here" "${with[@]}" \
        node packages/action/main.js >"$here/step" 2>&1 &
    step_pid=$!
    until_true "the job in line" grep -q '0 ahead' "$here/step"
    kill -INT "$step_pid"
    wait "$step_pid" || true
    is "a cancelled job leaves the line" "[]" "$("$program" -s "$redis" --json show staging | python3 -c 'import json, sys; print(json.load(sys.stdin)["waiters"])')"
    kill "${running[-1]}"
    wait "${running[-1]}" || true
    unset 'running[-1]'
}

the_action_installs_the_program() {
    start_registry
    anew
    mkdir -p "$here/path" && for command in node npm sh env sleep dirname readlink uname; do ln -sf "$(command -v "$command")" "$here/path/$command"; done
    step main INPUT_NAME=staging "INPUT_STORE=$redis" INPUT_VERSION=latest PATH="$here/path" || fail "the main step: $(cat "$here/step")"
    is "without a program it installs one" 1 "$(held staging)"
    post && is "and gives it back" 0 "$(held staging)"
}
