#!/bin/sh
# One node of a RabbitMQ cluster on loopback, in the foreground; nodes other than the first join that one.
# Usage: rabbitmq.sh FOLDER NODE MQTT_PORT DISTRIBUTION_PORT EPMD_PORT
# The Erlang port mapper must run already: epmd -address 127.0.0.1 -port EPMD_PORT
set -eu
folder=$1 node=$2 mqtt=$3 distribution=$4 epmd=$5
server=$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin | sort -V | tail -n 1)
place=$folder/r$node
mkdir -p "$place"
{
    echo "listeners.tcp = none"
    echo "mqtt.listeners.tcp.1 = 127.0.0.1:$mqtt"
    echo "mqtt.allow_anonymous = false"
    echo "mqtt.proxy_protocol = true"
    echo "cluster_name = kemqtt"
    echo "cluster_partition_handling = ignore"
    echo "cluster_formation.peer_discovery_backend = classic_config"
    echo "cluster_formation.classic_config.nodes.1 = r1@localhost"
    echo "load_definitions = $folder/definitions.json"
    echo "log.console = false"
    echo "log.file.level = info"
    echo "log.connection.level = debug"
    echo "vm_memory_high_watermark.absolute = 512MB"
    echo "disk_free_limit.absolute = 10MB"
} >"$place/rabbitmq.conf"
echo "[rabbitmq_mqtt]." >"$place/enabled_plugins"

export HOME="$folder" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$epmd"
export RABBITMQ_NODENAME="r$node@localhost" RABBITMQ_DIST_PORT="$distribution"
export RABBITMQ_MNESIA_BASE="$place/mnesia" RABBITMQ_LOG_BASE="$place/log"
export RABBITMQ_CONFIG_FILE="$place/rabbitmq.conf" RABBITMQ_ENABLED_PLUGINS_FILE="$place/enabled_plugins"
export RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_ALLOW_INPUT=1
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-noinput -start_epmd false -kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none"
exec "$server/rabbitmq-server"
