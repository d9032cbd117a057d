#!/usr/bin/env bash
# Builds the release binary of one target with cargo-zigbuild, and makes its packages in
# target/packages: build.sh [TARGET] [OPTIONS OF package.py]. A version behind gnu is the oldest glibc
# on which the program runs. Needs git, Rust with rustup, python3, readelf, and dpkg-deb for gnu.
set -euo pipefail
cd "$(dirname "$0")/../.."

wanted=${1:-x86_64-unknown-linux-gnu.2.17}
shift || true
target=${wanted%%.*}
glibc=${wanted#"$target"}
built=${CARGO_TARGET_DIR:-$PWD/target}
out=$built/packages
tools=$built/package-tools

# The same compiler, linker and tools for everybody.
toolchain=1.95.0
zig=0.17.1
zigbuild=0.24.0
cyclonedx=0.5.9

if ! [ -x "$tools/bin/cargo-zigbuild" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "ziglang==$zig" "cargo-zigbuild==$zigbuild"
fi
export PATH=$tools/bin:$PATH RUSTUP_TOOLCHAIN=$toolchain
rustup target list --installed 2>/dev/null | grep -qx "$target" ||
    rustup toolchain install "$toolchain" --profile minimal --target "$target"
command -v cargo-cyclonedx >/dev/null ||
    cargo install --locked --root "$tools" --target-dir "$built" "cargo-cyclonedx@$cyclonedx"

cargo fetch --locked --target "$target"

# No path, time or name of this machine is in what is built.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
STAUNCH_COMMIT=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH STAUNCH_COMMIT
RUSTFLAGS="--remap-path-prefix=$PWD=/staunch --remap-path-prefix=$built=/target"
CFLAGS="-ffile-prefix-map=$PWD=/staunch -ffile-prefix-map=$built=/target"
for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$folder=/crates"
    CFLAGS="$CFLAGS -ffile-prefix-map=$folder=/crates"
done
export RUSTFLAGS CFLAGS CXXFLAGS="$CFLAGS" CARGO_PROFILE_RELEASE_STRIP=debuginfo CARGO_INCREMENTAL=0
cargo zigbuild --release --locked --package staunch --target "$wanted"
binary=$built/$target/release/staunch

most=()
if [ -n "$glibc" ]; then most=(--glibc-max "${glibc#.}"); fi
python3 -B compose/packages/package.py platform "$out" --target "$target" --binary "$binary" "${most[@]}" "$@"

# cargo-cyclonedx writes beside each manifest, so it works on a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD | tar -x -C "$copy"
cargo cyclonedx --quiet --manifest-path "$copy/services/staunch/Cargo.toml" \
    --format json --spec-version 1.5 --target "$target"
sed "s|path+file://$copy|path+file:///staunch|g" "$copy/services/staunch/staunch.cdx.json" \
    >"$out/staunch-$target.cdx.json"
python3 -B compose/packages/package.py finish "$out" "$@"
