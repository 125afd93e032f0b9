# Notes and checksums.
# shellcheck shell=bash disable=SC2154

test_release() {
    local files
    packages/release >"$here/released"
    (cd "$out" && sha256sum --quiet -c SHA256SUMS) || fail "the checksums are not those of the files"
    files=$(find "$out" -maxdepth 1 -name 'seinpaal[-_]*.*' -type f | wc -l)
    is "every package has a checksum" "$files" "$(wc -l <"$out/SHA256SUMS")"
    is "and a line in the notes" "$files" "$(grep -c '^| seinpaal' "$out/NOTES.md")"
    is "the notes say what it does" "### Command line" "$(grep -m1 '^### Command line' "$out/NOTES.md")"
    is "a version that is not this one is refused" 1 "$(packages/release 99.0.0 2>/dev/null || echo $?)"
}
