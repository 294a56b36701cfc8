# Daily work on quipu. `just` lists the recipes; every one is a command that can be typed without it.

# show the recipes
default:
    @just --list --unsorted

# build and start the chat: `just run --model x.gguf`
run *args:
    ./scripts/run {{args}}

# start the chat on the scripted engine, without a model and without C++
fake script="assets/demo.toml" *args:
    cargo run --locked --no-default-features -- --engine scripted:{{script}} {{args}}

# run the tests that need no C++; a filter may follow: `just test sampling`
test *args:
    cargo test --locked --no-default-features {{args}}

# formatting and lints as the checks read them, without C++
lint:
    cargo fmt --check
    cargo clippy --locked --no-default-features --all-targets -- -D warnings

# mend what formatter and linter can mend by themselves
fix:
    cargo clippy --locked --no-default-features --all-targets --fix --allow-dirty --allow-staged
    cargo fmt

# look at changed snapshots one by one (needs cargo-insta)
snap:
    cargo insta test --review --no-default-features

# measure the core; `just bench view` measures the benchmarks of that name
bench *args:
    cargo bench --locked --no-default-features --bench '*' -- {{args}}

# write anew what is made from tables: the example of the settings, README's lists
docs:
    UPDATE_DOCS=1 cargo test --locked --no-default-features

# draw the README's pictures from the real program
shots:
    ./scripts/shots

# record the tour on the scripted engine
tour:
    ./scripts/tour

# check dependencies for known vulnerabilities (needs cargo-deny and the network)
audit:
    cargo deny check

# every check, as before a change is taken in
ci:
    ./.ci/run
