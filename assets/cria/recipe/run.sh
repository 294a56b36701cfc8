#!/bin/sh
# Makes cria from nothing: tokenizer, training, GGUF files, evaluation. Everything lies in the folder that is named, 'out' here without
# one, and a run that was stopped goes on.
#
#   sh assets/cria/recipe/run.sh [FOLDER]
#
# MILLION sets how many million places are trained on; on two cores with AMX a million takes a little more than two minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/out}"
out=$(cd "${1:-$here/out}" && pwd)
cd "$here"

[ -x "$out/venv/bin/python" ] || python3 -m venv "$out/venv"
"$out/venv/bin/pip" install --quiet --requirement requirements.txt
python=$out/venv/bin/python
# Sizes of batches differ, and glibc would keep what the largest needed.
export MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=134217728 MALLOC_MMAP_THRESHOLD_=1048576

[ -f "$out/tokenizer.json" ] || "$python" tokenizer.py --out "$out/tokenizer.json"
"$python" train.py --tokenizer "$out/tokenizer.json" --out "$out" --million "${MILLION:-60}"
"$python" export.py --checkpoint "$out/last.pt" --tokenizer "$out/tokenizer.json" --out "$out"

(cd "$here/../../.." && cargo build --release --locked)
for sampling in '' --sampled; do
    # shellcheck disable=SC2086 # none is no argument
    "$python" evaluate.py --quipu "$here/../../../target/release/quipu" --model "$out/cria-q8_0.gguf" $sampling
done
