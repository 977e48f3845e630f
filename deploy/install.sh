#!/bin/sh
# Puts the program for this machine into a folder of the path, after its checksum was compared. Beside a release lies
# one that knows where that is (`dev/package installer`).
set -eu

from='' to="${HOME:-/root}/.local/bin" version=0.2.0
usage() {
  cat >&2 <<'TEXT'
install.sh [--from PLACE] [--to FOLDER] [--version VERSION]

PLACE is where the files of a release are: a folder, or an address that curl can ask; the one that this script was
released at without it. FOLDER is ~/.local/bin without it.
TEXT
  exit 1
}
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || usage
  case $1 in
    --from) from=$2 ;;
    --to) to=$2 ;;
    --version) version=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ -n "$from" ] || { echo "say where the release is: --from PLACE" >&2 && exit 1; }

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=macos ;;
  *) echo "there is no program for $(uname -s) yet" >&2 && exit 1 ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) echo "there is no program for $(uname -m) yet: build it from source" >&2 && exit 1 ;;
esac
archive=forecourt-$version-$machine-$system.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
  case $from in
    *://*) curl --fail --silent --show-error --location --proto '=https,file' --output "$work/$1" "$from/$1" ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || { echo "$from has no $1" >&2 && exit 1; }
}
fetch SHA256SUMS
fetch "$archive"
wanted=$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' "$work/SHA256SUMS")
# macOS has a program of another name for it.
if command -v sha256sum >/dev/null; then sum=sha256sum; else sum='shasum -a 256'; fi
found=$($sum "$work/$archive" | cut -d' ' -f1)
[ -n "$wanted" ] && [ "$wanted" = "$found" ] || { echo "$archive is not what SHA256SUMS says: nothing was installed" >&2 && exit 1; }

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$to"
# There at once and whole, also where an older one is running.
cp "$work/${archive%.tar.gz}/forecourt" "$to/.forecourt.part"
chmod 755 "$to/.forecourt.part"
mv "$to/.forecourt.part" "$to/forecourt"
echo "installed $to/forecourt"
case :$PATH: in *:"$to":*) ;; *) echo "add it to the path: export PATH=\"$to:\$PATH\"" ;; esac
