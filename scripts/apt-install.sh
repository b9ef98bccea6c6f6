#!/bin/sh
# Usage: apt-install.sh PACKAGE...
#
# Installs Debian packages as root, asking nothing, and leaves no daemon behind:
# the packages of a server start it by default, and a stray Redis on port 6379
# is a trap for whoever runs a tool against localhost next.
#
#   - While the packages are set up, a policy-rc.d of ours refuses every start.
#     One that is already there is left alone.
#   - Afterwards a service that runs now and did not run before is stopped, in
#     case the other policy-rc.d allowed it. No other process is touched.
#   - A mirror that fails for a moment and another apt that holds the lock are
#     waited for; empty package lists are fetched first.
set -eu

readonly POLICY=/usr/sbin/policy-rc.d
readonly SERVICES='redis-server valkey-server postgresql'
readonly ATTEMPTS=3

say() {
	printf 'apt-install: %s\n' "$*" >&2
}

apt_get() {
	DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
		apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
		"$@" </dev/null >>"$log" 2>&1
}

lists_are_empty() {
	for list in /var/lib/apt/lists/*_Packages*; do
		if [ -e "$list" ]; then
			return 1
		fi
	done
}

running() {
	command -v service >/dev/null && service "$1" status >/dev/null 2>&1
}

# install fetches the lists first when there are none, and after a failure: the
# lists may name a version that the mirror has replaced since.
install() {
	attempt=1
	while :; do
		if [ "$attempt" -gt 1 ] || lists_are_empty; then
			apt_get update || say 'apt-get update reported errors; trying with the lists at hand'
		fi
		if apt_get install --no-install-recommends "$@"; then
			return 0
		fi
		if [ "$attempt" -ge "$ATTEMPTS" ]; then
			return 1
		fi
		say "attempt $attempt of $ATTEMPTS failed; next one in $((attempt * 5)) s"
		sleep "$((attempt * 5))"
		attempt=$((attempt + 1))
	done
}

forbid_starts() {
	if [ -e "$POLICY" ]; then
		return 0
	fi
	printf '#!/bin/sh\nexit 101\n' >"$POLICY"
	policy_is_ours=yes
	chmod 0755 "$POLICY"
}

clean_up() {
	rm -f "$log"
	if [ "$policy_is_ours" = yes ]; then
		rm -f "$POLICY"
	fi
}

if [ "$#" -eq 0 ]; then
	say 'no package named'
	exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
	say "must run as root: sudo apt-get install $*"
	exit 1
fi

policy_is_ours=no
log=$(mktemp)
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

before=
for service in $SERVICES; do
	if running "$service"; then
		before="$before $service "
	fi
done

say "installing $*"
forbid_starts
if ! install "$@"; then
	tail -n 40 "$log" >&2
	say "apt-get install $* failed; its last lines are above"
	exit 1
fi

for service in $SERVICES; do
	case $before in
	*" $service "*) continue ;;
	esac
	if running "$service"; then
		say "stopping $service, which the installation started"
		service "$service" stop >/dev/null 2>&1 || say "cannot stop $service: service $service stop"
	fi
done
say "installed $*"
