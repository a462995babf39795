#!/bin/sh
# What `make demo` runs: index this project's documentation and source, then search it.
# Everything stays inside the project's folder; the index is .demo, which git ignores.
set -eu
cd "$(dirname "$0")/.."
quintet=.venv/bin/quintet
python=.venv/bin/python
folder=.demo

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

run() {
    shown="quintet"
    for word in "$@"; do
        case $word in
            *" "*) shown="$shown \"$word\"" ;;
            *) shown="$shown $word" ;;
        esac
    done
    say "\$ $shown"
    "$quintet" "$@" --db "$folder"
}

rm -rf "$folder"
run index docs src
run status

say "By words and by meaning, with the share of each:"
run search "how are equal scores ordered" --limit 3 --explain

question="does my data leave home"
say "By meaning alone, in the documentation. The best passage shares no word with the question:"
run search "$question" --mode semantic --filter root:docs --limit 1 --explain

"$quintet" search "$question" --mode semantic --filter root:docs --limit 1 --json --db "$folder" | "$python" -c '
import json, re, sys
best = json.load(sys.stdin)["results"][0]
words = lambda text: set(re.findall(r"\w+", text.lower()))
shared = words(sys.argv[1]) & words(best["content"] + " " + best["heading_path"])
print("\nwords in common:", ", ".join(sorted(shared)) or "none")
sys.exit(bool(shared))
' "$question"

say "Your turn:"
printf '%s search "your question" --db %s --explain\n' "$quintet" "$folder"
