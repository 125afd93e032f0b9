# A fresh virtual environment, and one command.
# shellcheck shell=bash disable=SC2154

test_tar() {
    local archive folder
    archive=$(only "$out"/seinpaal-*-linux-*.tar.gz)
    tar -xzf "$archive" -C "$here"
    folder=$here/$(basename "$archive" .tar.gz)
    is "the program needs no library" 1 "$(ldd "$folder/seinpaal" 2>&1 | grep -c -e "not a dynamic" -e "statically linked")"
    is "its manual pages can be read" "NAME" "$(man -l "$folder/man1/seinpaal-run.1.gz" 2>/dev/null | grep -o -m1 '^NAME')"
    manners "$folder/seinpaal"
    leaves_the_line "$folder/seinpaal"
    echo "archive $(size "$archive"), program $(size "$folder/seinpaal")"
}

test_wheel() {
    local wheel began
    wheel=$(only "$out"/seinpaal-*.whl)
    python3 -m venv "$here/venv"
    began=$(date +%s%N)
    "$here/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$out" seinpaal
    echo "pip install seinpaal: $((($(date +%s%N) - began) / 1000000)) ms, wheel $(size "$wheel")"
    is "the program is on PATH" "$here/venv/bin/seinpaal" "$(PATH=$here/venv/bin:$PATH command -v seinpaal)"
    manners "$here/venv/bin/seinpaal"
    shared_name
    "$here/venv/bin/pip" uninstall --quiet --disable-pip-version-check --yes seinpaal
    [ ! -e "$here/venv/bin/seinpaal" ] || fail "pip uninstall left the program"
}

# The module and the program of one wheel meet at one store.
shared_name() {
    local told
    told=$(SEINPAAL_STORE=file://$here/shared "$here/venv/bin/python" - <<-'PYTHON'
		import subprocess, sys, sysconfig, seinpaal
		program = sysconfig.get_path("scripts") + "/seinpaal"
		with seinpaal.connect().semaphore("a", 1):
		    print(subprocess.run([program, "run", "-q", "-n", "a", "true"]).returncode)
		print(subprocess.run([program, "run", "-q", "-n", "a", "true"]).returncode)
	PYTHON
    )
    is "the module holds, and the program waits for it" "75 0" "$(echo $told)"
}
