#!/bin/sh
# Makes cria from nothing: tokenizer, training, GGUF files, evaluation. Everything lies in the folder that is named, 'out' here without
# one, and a run that was stopped goes on.
#
#   sh assets/cria/recipe/run.sh [FOLDER]
#
# MILLION sets how many million places are trained on; on two cores with AMX a million takes two minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/out}"
out=$(cd "${1:-$here/out}" && pwd)
cd "$here"

[ -x "$out/venv/bin/python" ] || python3 -m venv "$out/venv"
"$out/venv/bin/pip" install --quiet --requirement requirements.txt
python=$out/venv/bin/python
# glibc gives large blocks back at once, and a quarter of the time would go into asking for them again; some 3 GB stay taken.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 GLIBC_TUNABLES=glibc.malloc.hugetlb=1

[ -f "$out/tokenizer.json" ] || "$python" tokenizer.py --out "$out/tokenizer.json"
"$python" train.py --tokenizer "$out/tokenizer.json" --out "$out" --million "${MILLION:-60}"
"$python" export.py --checkpoint "$out/last.pt" --tokenizer "$out/tokenizer.json" --out "$out"

(cd "$here/../../.." && cargo build --release --locked)
for sampling in '' --sampled; do
    # shellcheck disable=SC2086 # none is no argument
    "$python" evaluate.py --quipu "$here/../../../target/release/quipu" --model "$out/cria-q8_0.gguf" $sampling
done
