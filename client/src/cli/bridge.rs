//! `kemqtt bridge`: the sidecar for unmodified MQTT clients.

use anyhow::bail;
use clap::Args;
use kemqtt_client::{Bridge, Endpoint};

use super::connection::Connection;

/// Accept plain MQTT locally and carry it through the secure channel, each client in its own connection.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Where local clients connect: tcp:HOST:PORT or unix:PATH; may be given several times.
    #[arg(short, long, default_value = "tcp:127.0.0.1:1883", value_name = "ENDPOINT")]
    listen: Vec<Endpoint>,
    /// Also listen on addresses that other machines reach. Whoever reaches them uses this device's credential.
    #[arg(long)]
    allow_remote: bool,
    /// Most local clients at one time.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    max_clients: u32,
    #[command(flatten)]
    connection: Connection,
}

/// Serves local clients until Ctrl-C.
pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.connection.config()?;
    if let Some(open) = arguments
        .listen
        .iter()
        .find(|e| !arguments.allow_remote && e.is_remote())
    {
        bail!(
            "{open} is reachable from other machines, and MQTT is in clear there; listen on 127.0.0.1 or add --allow-remote"
        );
    }
    let bridge = Bridge::new(arguments.connection.address(), config)?.max_clients(arguments.max_clients);
    let mut listeners = Vec::new();
    for endpoint in &arguments.listen {
        let listener = bridge.listen(endpoint).await?;
        eprintln!(
            "kemqtt: plain MQTT on {}, secure to {}",
            listener.endpoint(),
            bridge.broker()
        );
        listeners.push(listener);
    }
    serve(&bridge).await?;
    Ok(())
}

/// Until Ctrl-C. SIGUSR1 asks every session for a re-authentication.
#[cfg(unix)]
async fn serve(bridge: &Bridge) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut asked = signal(SignalKind::user_defined1())?;
    loop {
        tokio::select! {
            done = tokio::signal::ctrl_c() => return done,
            _ = asked.recv() => eprintln!("kemqtt: re-authenticating {} sessions", bridge.reauthenticate()),
        }
    }
}

#[cfg(not(unix))]
async fn serve(_: &Bridge) -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

const EXAMPLES: &str = "\
Examples:
  kemqtt bridge                                          plain MQTT on 127.0.0.1:1883
  kemqtt bridge --listen unix:/run/user/1000/mqtt.sock   only this user can connect
  mosquitto_pub -h 127.0.0.1 -p 1883 -t room/temp -m 21.5

SIGUSR1 makes every session re-authenticate now, besides the times of --reauthenticate.

Every local client (MQTT 3.1, 3.1.1 or 5.0) gets a connection of its own with its own CONNECT; the broker decides which
client identifiers the device may use.";
