#!/bin/sh
# unpack_deb.sh PACKAGE FOLDER: the files of a Debian package below a folder.  Installed, some of them start a service.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt fetches as a user of its own, where it can
(cd "$work" && apt-get -qq download "$1" 2>err) || { cat "$work/err" >&2; exit 1; }
mkdir -p "$2"
dpkg-deb -x "$work"/*.deb "$2"
