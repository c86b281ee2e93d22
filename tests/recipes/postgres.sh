#!/bin/sh
# A PostgreSQL server of its own, on a Unix socket in FOLDER only, until it gets a signal.
# Usage: postgres.sh FOLDER      URL then: postgres://kemqtt@localhost/postgres?host=FOLDER
set -eu
folder=$1
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb)")

# The server refuses to run as root.
if [ "$(id -u)" = 0 ]; then
    chown postgres "$folder"
    unprivileged="setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env"
else
    unprivileged=""
fi
cd "$folder"
[ -d data ] || $unprivileged "$bin/initdb" -D "$folder/data" -U kemqtt -A trust -E UTF8 --locale=C --no-sync >initdb.log
exec $unprivileged "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off
