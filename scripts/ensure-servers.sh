#!/bin/sh
# Usage: ensure-servers.sh [-q]
#
# The tests speak to a real Redis and a real PostgreSQL, which they start
# themselves on private ports. This script makes sure that the programs are
# there: redis-server or valkey-server in PATH, and PostgreSQL's initdb and
# postgres in PATH or in a folder where Debian, PGDG or Homebrew put them.
#
# As root on a system with apt-get it installs what is missing; otherwise it
# says in one line what to install, and exits 1. It starts no server. With -q it
# prints nothing when all is well.
set -eu

readonly REDIS_MIN_MAJOR=6 REDIS_MIN_MINOR=2
readonly POSTGRES_MIN_MAJOR=12

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# number_in prints the first version-like word of a text: "Redis server v=7.0.15
# sha=..." and "postgres (PostgreSQL) 15.18 (Debian ...)" both hold one.
number_in() {
	for word in $1; do
		word=${word#v=}
		word=${word#v}
		case $word in
		[0-9]*) printf '%s\n' "$word" && return ;;
		esac
	done
}

# find_redis sets redis and redis_version, or redis_problem.
find_redis() {
	redis='' redis_problem='redis-server'
	for name in redis-server valkey-server; do
		path=$(command -v "$name") || continue
		version=$(number_in "$("$path" --version 2>/dev/null)") || continue
		major=${version%%.*}
		minor=${version#*.}
		minor=${minor%%[!0-9]*}
		case $major in
		'' | *[!0-9]*) continue ;;
		esac
		if [ "$major" -gt "$REDIS_MIN_MAJOR" ] ||
			{ [ "$major" -eq "$REDIS_MIN_MAJOR" ] && [ "${minor:-0}" -ge "$REDIS_MIN_MINOR" ]; }; then
			redis=$path redis_version=$version redis_problem=
			return
		fi
		redis_problem="redis-server $REDIS_MIN_MAJOR.$REDIS_MIN_MINOR or newer (found $version)"
	done
}

# postgres_folders prints where to look: PATH first, then the newest major of
# each place that keeps several.
postgres_folders() {
	if path=$(command -v initdb); then
		dirname -- "$path"
	fi
	for pattern in '/usr/lib/postgresql/*/bin' '/usr/pgsql-*/bin' \
		'/opt/homebrew/opt/postgresql@*/bin' '/usr/local/opt/postgresql@*/bin' \
		'/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin'; do
		for folder in $pattern; do
			major=${folder%/bin}
			major=${major##*[!0-9]}
			if [ -n "$major" ] && [ -d "$folder" ]; then
				printf '%s %s\n' "$major" "$folder"
			fi
		done | sort -rn | cut -d' ' -f2-
	done
	for folder in /opt/homebrew/opt/postgresql/bin /usr/local/opt/postgresql/bin /usr/local/pgsql/bin; do
		printf '%s\n' "$folder"
	done
}

# find_postgres sets postgres (a folder) and postgres_version, or postgres_problem.
find_postgres() {
	postgres='' postgres_problem='PostgreSQL'
	folders=$(postgres_folders)
	saved_ifs=$IFS
	IFS='
'
	for folder in $folders; do
		IFS=$saved_ifs
		if [ ! -x "$folder/initdb" ] || [ ! -x "$folder/postgres" ]; then
			continue
		fi
		version=$(number_in "$("$folder/postgres" --version 2>/dev/null)") || continue
		major=${version%%[!0-9]*}
		if [ "${major:-0}" -ge "$POSTGRES_MIN_MAJOR" ]; then
			postgres=$folder postgres_version=$version postgres_problem=
			break
		fi
		if [ -n "$version" ] && [ "$postgres_problem" = PostgreSQL ]; then
			postgres_problem="PostgreSQL $POSTGRES_MIN_MAJOR or newer (found $version)"
		fi
	done
	IFS=$saved_ifs
}

# install_command prints what a person would type for the given programs
# (redis, postgres) on this system.
install_command() {
	manager=
	for candidate in apt-get brew dnf apk pacman; do
		if command -v "$candidate" >/dev/null; then
			manager=$candidate
			break
		fi
	done
	packages=
	for program in "$@"; do
		case $manager-$program in
		apt-get-redis) name='redis-server' ;;
		apt-get-postgres | apk-postgres | pacman-postgres) name=postgresql ;;
		brew-postgres) name=postgresql@17 ;;
		dnf-redis | pacman-redis) name=valkey ;;
		dnf-postgres) name=postgresql-server ;;
		*-redis) name=redis ;;
		*) name=postgresql ;;
		esac
		packages="$packages $name"
	done
	case $manager in
	apt-get | dnf) printf 'sudo %s install%s\n' "$manager" "$packages" ;;
	brew) printf 'brew install%s\n' "$packages" ;;
	apk) printf 'sudo apk add%s\n' "$packages" ;;
	pacman) printf 'sudo pacman -S%s\n' "$packages" ;;
	*) printf 'install%s and put its programs in PATH\n' "$packages" ;;
	esac
}

# missing prints the programs still to be found, as install_command takes them.
missing() {
	printf '%s' "${redis_problem:+redis }${postgres_problem:+postgres}"
}

complain() {
	problems=$redis_problem${redis_problem:+${postgres_problem:+ and }}$postgres_problem
	# shellcheck disable=SC2046 # one word a program
	printf 'idemctl tests need %s: %s\n' "$problems" "$(install_command $(missing))" >&2
	exit 1
}

quiet=no
case ${1-} in
'') ;;
-q) quiet=yes ;;
*)
	sed -n 's/^# \{0,1\}//; 2p' "$0" >&2
	exit 2
	;;
esac

find_redis
find_postgres
if [ -n "$(missing)" ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	# Unquoted on purpose: an empty word names no package.
	"$here/apt-install.sh" ${redis_problem:+redis-server} ${postgres_problem:+postgresql}
	find_redis
	find_postgres
fi
if [ -n "$(missing)" ]; then
	complain
fi
if [ "$quiet" = no ]; then
	printf '%s %s (%s)\n' "${redis##*/}" "$redis_version" "$redis"
	printf 'postgres %s (%s)\n' "$postgres_version" "$postgres"
fi
