#!/usr/bin/env bash
# Builds the previous commit (or the one that is named) and changes nodes between it and this one.
set -euo pipefail
cd "$(dirname "$0")/../.."

commit=$(git rev-parse "${1:-HEAD~1}")
folder=target/previous
source=$folder/source
mkdir -p "$folder"
[ -e "$source/.git" ] || { git worktree prune; git worktree add --detach "$source" "$commit"; }
git -C "$source" checkout --quiet --detach "$commit"
# In the same target folder: what both commits depend on is built once.
cargo build --quiet --manifest-path "$source/Cargo.toml" -p staunch --target-dir target
cp target/debug/staunch "$folder/staunch"
printf '\n== upgrade: from %s and back\n' "$(git log -1 --format='%h %s' "$commit")"
export STAUNCH_PREVIOUS_BINARY=$PWD/$folder/staunch
STAUNCH_CHAOS=full cargo test -p chaos upgrade -- --nocapture
