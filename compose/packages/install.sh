#!/bin/sh
# Installs the program staunch from an archive of a release, after a check of its hash.
set -eu

version=unknown
# The address of the releases, below which each version has a folder.
releases=
unset from prefix
home=${HOME:+$HOME/.local}

usage() {
    place=${releases:+$releases/v$version}
    cat <<END
Usage: install.sh [--from PLACE] [--version VERSION] [--prefix FOLDER]

  --from PLACE       URL or folder with the archives and their SHA256SUMS
                     (${place:-must be given: this script comes from no release})
  --version VERSION  the version to install ($version)
  --prefix FOLDER    installs FOLDER/bin/staunch (${home:-must be given: HOME is not set})
END
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --from | --version | --prefix)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
        --from) from=$2 ;;
        --version) version=$2 ;;
        --prefix) prefix=$2 ;;
        esac
        shift 2
        ;;
    -h | --help)
        usage
        exit
        ;;
    *)
        usage >&2
        fail "unknown argument $1"
        ;;
    esac
done

# The platform of this machine, as archives name it.
platform() {
    system=$(uname -s) machine=$(uname -m)
    [ "$system" = Linux ] || fail "there is no archive for $system on $machine; build from source"
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no archive for $system on $machine; build from source" ;;
    esac
    if glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null); then
        glibc=${glibc#glibc }
        if [ "${glibc%%.*}" -lt 2 ] || { [ "${glibc%%.*}" -eq 2 ] && [ "${glibc#*.}" -lt 17 ]; }; then
            fail "glibc is $glibc; 2.17 or newer is needed"
        fi
        echo "$machine-unknown-linux-gnu"
    else
        echo "$machine-unknown-linux-musl"
    fi
}

# Gets a file of the place.
get() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl --fail --silent --show-error --location --retry 3 --output "$work/$1" "$from/$1"
        elif command -v wget >/dev/null; then
            wget --quiet --output-document="$work/$1" "$from/$1"
        else
            fail "curl or wget is needed to download $from/$1"
        fi || fail "cannot download $from/$1; does this release have an archive for $target?"
        ;;
    *) cp "$from/$1" "$work/$1" || fail "$from has no $1" ;;
    esac
}

digest() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        fail 'sha256sum or shasum is needed to check the archive'
    fi
}

[ "$version" != unknown ] || fail 'which version? Give --version'
[ -n "${from-$releases}" ] || fail 'from where? Give --from with a URL or a folder'
from=${from-$releases/v$version}
if [ -z "${prefix+given}" ]; then
    [ -n "$home" ] || fail 'where to? HOME is not set: give --prefix with a folder, such as /usr/local'
    prefix=$home
fi
case $prefix in
/?*) ;;
*) fail "--prefix $prefix: give an absolute path" ;;
esac
# mv and cp would put the program into a folder of that name.
for place in "$prefix/bin/staunch" "$prefix/bin/.staunch.new"; do
    [ ! -d "$place" ] ||
        fail "$place is a folder, and the program cannot take its place: move it away, or give another --prefix"
done
target=$(platform)
name=staunch-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

get SHA256SUMS
expected=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1; exit }' "$work/SHA256SUMS")
[ -n "$expected" ] || fail "$from has no archive of staunch $version for $target"
get "$name.tar.gz"
found=$(digest "$work/$name.tar.gz")
found=${found%% *}
[ "$found" = "$expected" ] ||
    fail "$name.tar.gz has the SHA-256 $found, expected $expected: not installed"

tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$prefix/bin" || fail "cannot write to $prefix; give another --prefix"
# Beside its place first: a program that runs is replaced, not written into.
cp "$work/$name/staunch" "$prefix/bin/.staunch.new" || fail "cannot write to $prefix/bin"
chmod 755 "$prefix/bin/.staunch.new"
said=$("$prefix/bin/.staunch.new" --version) || {
    rm -f "$prefix/bin/.staunch.new"
    fail "the program does not run on this machine: not installed"
}
mv -f "$prefix/bin/.staunch.new" "$prefix/bin/staunch"
echo "$said is at $prefix/bin/staunch (SHA-256 of the archive is right)"
case :${PATH:-}: in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not on the PATH" ;;
esac
