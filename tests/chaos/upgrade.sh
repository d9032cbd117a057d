#!/usr/bin/env bash
# Builds the previous commit (or the one that is named) and changes nodes between it and this one.
set -euo pipefail
cd "$(dirname "$0")/../.."

commit=$(git rev-parse "${1:-HEAD~1}")
source=target/previous/source
[ -d "$source" ] || git worktree add --detach "$source" "$commit"
git -C "$source" checkout --quiet --detach "$commit"
cargo build --quiet --manifest-path "$source/Cargo.toml" -p staunch --target-dir target/previous/build
printf '\n== upgrade: from %s and back\n' "$(git log -1 --format='%h %s' "$commit")"
export STAUNCH_PREVIOUS_BINARY=$PWD/target/previous/build/debug/staunch
STAUNCH_CHAOS=full cargo test -p chaos upgrade -- --nocapture
