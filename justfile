# The everyday commands. Each is one cargo command; `just` alone lists them.

_default:
    @just --list

# Runs the main job end to end and shows the result.
demo:
    cargo run -- demo

# Runs everything on this machine, with its data in ./.staunch.
dev *args:
    cargo run -- dev {{args}}

# All tests. PostgreSQL is used where it is installed.
test *args:
    cargo test --workspace {{args}}

# Many simulated clusters: `just sim 10000`.
sim seeds="200":
    SIM_SEEDS={{seeds}} cargo test -p sim --release -- --nocapture

fmt:
    cargo fmt --all

lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Writes the generated files under schema/ anew.
schema:
    UPDATE_EXPECT=1 cargo test -p ingress

# Exactly what CI runs.
ci:
    bash .ci/run
