#!/bin/sh
# install.sh SUDO PACKAGE…: install those of the Debian packages that are not there yet.
set -eu
sudo=$1
shift
missing=
for package; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || { echo "install.sh: no apt-get here; install what gives:$missing" >&2; exit 1; }
[ -z "$sudo" ] || command -v "$sudo" >/dev/null ||
	{ echo "install.sh: this is neither root nor is sudo here; as root do: apt-get install$missing" >&2; exit 1; }
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q >/dev/null
# shellcheck disable=SC2086 -- a list of words
$sudo apt-get install -y -q --no-install-recommends $missing >/dev/null
