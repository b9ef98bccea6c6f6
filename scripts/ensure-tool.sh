#!/bin/sh
# Usage: ensure-tool.sh [-n] TOOL
#
# Prints the path of a development tool at the version this project is checked
# with. One that is in PATH or in Go's own bin folder is used if it is that
# version; otherwise it is built with go install and kept, by version, under
# ${XDG_CACHE_HOME:-$HOME/.cache}/idemctl/bin. With -n nothing is built: exit 1
# when the tool is not there.
#
# A cold build takes minutes: golangci-lint about five on two cores, goreleaser
# about six.
set -eu

say() {
	printf 'ensure-tool: %s\n' "$*" >&2
}

build=yes
if [ "${1-}" = -n ]; then
	build=no
	shift
fi

tool=${1-}
case $tool in
golangci-lint)
	module=github.com/golangci/golangci-lint/v2
	package=$module/cmd/golangci-lint
	version=v2.15.0
	;;
goreleaser)
	module=github.com/goreleaser/goreleaser/v2
	package=$module
	version=v2.15.1
	;;
govulncheck)
	module=golang.org/x/vuln
	package=$module/cmd/govulncheck
	version=v1.9.0
	;;
*)
	say "unknown tool '$tool': want golangci-lint, goreleaser or govulncheck"
	exit 2
	;;
esac

if ! command -v go >/dev/null; then
	say 'go is not in PATH: install Go 1.26 or newer'
	exit 1
fi

minor_of() {
	minor=${1#go1.}
	printf '%s\n' "${minor%%[!0-9]*}"
}

# usable tells whether a program is the wanted version, built by a Go that is
# not older than ours: a linter cannot read a language newer than itself.
usable() {
	[ -x "$1" ] || return 1
	built=$(go version -m "$1" 2>/dev/null) || return 1
	printf '%s\n' "$built" | awk -v m="$module" -v v="$version" \
		'$1 == "mod" && $2 == m && $3 == v { found = 1 } END { exit !found }' || return 1
	compiler=${built%%
*}
	compiler=$(minor_of "${compiler##*: }")
	[ "${compiler:-0}" -ge "$(minor_of "$go_version")" ]
}

go_version=$(go env GOVERSION)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/idemctl/bin/$tool-$version-$go_version
gobin=$(go env GOBIN)

for candidate in "$folder/$tool" "$(command -v "$tool" || :)" "${gobin:-$(go env GOPATH)/bin}/$tool"; do
	if usable "$candidate"; then
		printf '%s\n' "$candidate"
		exit 0
	fi
done
if [ "$build" = no ]; then
	exit 1
fi

say "building $tool $version with $go_version; this takes minutes, once"
mkdir -p "$folder"
fresh=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if ! GOBIN=$fresh CGO_ENABLED=0 go install "$package@$version" >&2; then
	say "go install $package@$version failed"
	exit 1
fi
mv "$fresh/$tool" "$folder/$tool"
printf '%s\n' "$folder/$tool"
