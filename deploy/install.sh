#!/bin/sh
# Puts the program for this machine into a folder of the path, after its checksum was compared.
#
#   install.sh --from PLACE [--to FOLDER] [--version VERSION]
#
# PLACE is where the files of a release are: a folder, or an address that curl can ask. FOLDER is ~/.local/bin without it.
set -eu

from='' to="${HOME:-/root}/.local/bin" version=0.2.0
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=$2 && shift 2 ;;
    --to) to=$2 && shift 2 ;;
    --version) version=$2 && shift 2 ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" && exit 1 ;;
  esac
done
[ -n "$from" ] || { echo "say where the release is: --from PLACE" >&2 && exit 1; }

case $(uname -s) in Linux) system=linux ;; *) echo "there is no program for $(uname -s) yet" >&2 && exit 1 ;; esac
archive=forecourt-$version-$(uname -m)-$system.tar.gz
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
found=$(sha256sum "$work/$archive" | cut -d' ' -f1)
[ -n "$wanted" ] && [ "$wanted" = "$found" ] || { echo "$archive is not what SHA256SUMS says: nothing was installed" >&2 && exit 1; }

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$to"
# There at once and whole, also where an older one is running.
cp "$work/${archive%.tar.gz}/forecourt" "$to/.forecourt.part"
chmod 755 "$to/.forecourt.part"
mv "$to/.forecourt.part" "$to/forecourt"
echo "installed $to/forecourt"
case :$PATH: in *:"$to":*) ;; *) echo "add it to the path: export PATH=\"$to:\$PATH\"" ;; esac
