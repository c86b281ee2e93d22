#!/bin/sh
# An ejabberd node with mod_mqtt on loopback, in the foreground and in FOLDER only. As no node of a distributed Erlang it
# has no port besides MQTT_PORT and no port mapper.
# Usage: ejabberd.sh FOLDER MQTT_PORT PASSWORD [USER ...]      users of the virtual host `localhost`
set -eu
folder=$1 port=$2 password=$3
shift 3
mkdir -p "$folder/spool" "$folder/log"
cat >"$folder/ejabberd.yml" <<END
hosts: [localhost]
loglevel: info
auth_method: internal
certfiles: []
listen:
  - port: $port
    ip: "127.0.0.1"
    module: mod_mqtt
modules:
  mod_mqtt:
    session_expiry: 5 minutes
END
register=""
for user in "$@"; do
    user=$(printf %s "$user" | sed 's/\\/\\\\/g')
    register="$register ok = ejabberd_auth:try_register(<<\"$user\">>, <<\"localhost\">>, <<\"$password\">>),"
done

# The user of Debian's package, which the node never runs as root under either.
if [ "$(id -u)" = 0 ]; then
    chown -R ejabberd "$folder"
    unprivileged="setpriv --reuid=ejabberd --regid=ejabberd --clear-groups --reset-env"
else
    unprivileged=""
fi
libraries=$(ls -d /usr/lib/*/ejabberd-* | sort -V | tail -n 1)
cd "$folder/spool"
exec $unprivileged env HOME="$folder" ERL_CRASH_DUMP=/dev/null ERL_LIBS="$(dirname "$libraries")" \
    EJABBERD_CONFIG_PATH="$folder/ejabberd.yml" EJABBERD_LOG_PATH="$folder/log/ejabberd.log" \
    erl -noinput +S 1:1 +sbwt none -mnesia dir "\"$folder/spool\"" -s ejabberd \
    -eval "$register io:format(\"all users registered~n\")."
