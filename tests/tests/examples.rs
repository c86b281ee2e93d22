//! The examples run as their documentation says.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use kemqtt_client::{Config, Credential, Pins};
use kemqtt_tests::{Client, Mosquitto, Peer, example, free_address, mosquitto_sub, output_within};
use rumqttc::v5::{Incoming, mqttbytes::QoS};

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_before_one_broker() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let node = broker.address().to_string();
    let run = output_within(example("fleet")?, [&node, &node], Duration::from_secs(60)).await?;
    let said = String::from_utf8(run.stdout)?;
    ensure!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let lines: Vec<&str> = said.lines().collect();
    let ends = [
        format!("to {node}"),
        format!("to {node}"),
        "was resumed with the ticket of the first".to_owned(),
        "was revoked, and its session is closed".to_owned(),
    ];
    let expected = lines.len() == ends.len() && lines.iter().zip(&ends).all(|(line, end)| line.ends_with(end));
    ensure!(expected, "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_in_a_program_of_ones_own() -> Result<()> {
    let (broker, folder) = (Mosquitto::start().await?, tempfile::tempdir()?);
    let mut gateway = Embedded::start(folder.path(), &broker).await?;
    let (config, sent) = (gateway.device()?, "through the program");
    for round in 0..2 {
        let mut pump = Client::connect("pump-1", &gateway.address, config.clone(), |_| {}).await?;
        pump.handle.publish("plant/pump", QoS::AtLeastOnce, true, sent).await?;
        pump.until(|event| matches!(event, Incoming::PubAck(_))).await?;
        let kept = mosquitto_sub(broker.address(), "-t plant/pump -C 1").await?;
        assert_eq!(String::from_utf8(kept.stdout)?.trim(), sent, "round {round}");
        drop(pump);
        gateway.peer.signal("INT").await?;
        ensure!(gateway.peer.ended().await?.success(), "{}", gateway.peer.log());
        // Its registry is there already, so the device needs nothing new.
        gateway = Embedded::start(folder.path(), &broker).await?;
        ensure!(
            !gateway.peer.log().contains("the device keeps"),
            "{}",
            gateway.peer.log()
        );
    }
    Ok(())
}

/// The running example.
struct Embedded {
    peer: Peer,
    address: String,
}

impl Embedded {
    async fn start(folder: &Path, broker: &Mosquitto) -> Result<Self> {
        let address = free_address()?.to_string();
        let (program, folder) = (example("embed_gateway")?, folder.display().to_string());
        let (program, node) = (program.display().to_string(), broker.address().to_string());
        let arguments = ["-c", "cd \"$0\" && exec \"$@\"", &folder, &program, &node, &address];
        let mut peer = Peer::start("sh", arguments, &Path::new(&folder).join("log"))?;
        peer.logs("\nhkm1-broker ").await?;
        Ok(Self { peer, address })
    }

    /// The settings of the device that it has made.
    fn device(&self) -> Result<Config> {
        let log = self.peer.log();
        let line = |start: &str| {
            let line = log.lines().find_map(|line| line.strip_prefix(start));
            line.with_context(|| format!("no `{start}` in:\n{log}"))
        };
        let pin = format!("hkm1-broker {}", line("hkm1-broker ")?);
        let credential = Credential::from_text(line("the device keeps: ")?)?;
        Ok(Config::new(Pins::from_text(&pin)?, credential))
    }
}
