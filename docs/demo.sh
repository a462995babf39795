#!/bin/sh
# What `make demo` runs: index this project's documentation, search it, then go on to its source.
# Everything stays inside the project's folder; the index is .demo, which git ignores.
set -eu
cd "$(dirname "$0")/.."
quintet=.venv/bin/quintet
python=.venv/bin/python
folder=.demo
times=""

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

# Note the seconds since the last part under the name of this one.
part() {
    now=$(date +%s)
    times="$times$(printf '%4d s  %s' "$((now - since))" "$1")
"
    since=$now
}

rm -rf "$folder"
since=$(date +%s)

say "Text first. Nothing is embedded yet, and words are found already:"
run index docs --no-wait
run search "how are equal scores ordered" --limit 1 --explain
part "text of the documentation, and an explained answer by words"

run index docs
part "embedding of the documentation"

say "By words and by meaning, with the share of each:"
run search "how are equal scores ordered" --limit 3 --explain

question="does my data leave home"
say "By meaning alone. The best passage shares no word with the question:"
run search "$question" --mode semantic --limit 1 --explain

"$quintet" search "$question" --mode semantic --limit 1 --json --db "$folder" | "$python" -c '
import json, re, sys
best = json.load(sys.stdin)["results"][0]
words = lambda text: set(re.findall(r"\w+", text.lower()))
shared = words(sys.argv[1]) & words(best["content"] + " " + best["heading_path"])
print("\nwords in common:", ", ".join(sorted(shared)) or "none")
sys.exit(bool(shared))
' "$question"
part "explained answers by words and meaning"

say "Now the source code. Ctrl-C stops the embedding, and this demonstration goes on with what there is:"
trap : INT
run index docs src || [ $? -eq 130 ]
trap - INT
part "the source code"

run search "where are ignore files read" --filter lang:python --limit 2 --explain
run related best_first --limit 4
run status
part "explained answers about code"

say "The time of each part:"
printf '%s' "$times"

say "Your turn:"
printf '%s search "your question" --db %s --explain\n' "$quintet" "$folder"
