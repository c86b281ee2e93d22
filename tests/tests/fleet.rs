//! Running gateways: what a reload changes, and what happens to large messages and slow readers.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kemqtt_client::Config;
use kemqtt_tests::{Balancer, Client, Gateway, Mosquitto, Office, mosquitto_pub};
use rumqttc::v5::{Incoming, mqttbytes::QoS};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, sleep},
};

async fn connect(id: &str, gateway: &Gateway, config: &Config) -> Result<Client> {
    Client::connect(id, &gateway.address().to_string(), config.clone(), |_| {}).await
}

/// The reason in an error that must come.
fn reason(attempt: Result<Client>) -> Result<String> {
    Ok(format!("{:?}", attempt.err().context("must be refused")?))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_changes_policy_and_ticket_keys_and_drops_only_whom_it_must() -> Result<()> {
    let (office, broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let (config_file, tickets) = (office.file("broker.toml"), office.file("tickets"));
    let settings = |policy: &str, topics: &str| {
        let text = format!(
            "ticket_file = \"{}\"\n[backend]\nkind = \"tcp\"\naddress = \"{}\"\n[identity]\nclient_id = \"{policy}\"\n{topics}",
            tickets.display(),
            broker.address()
        );
        std::fs::write(&config_file, text)
    };
    let keys = |lines: &[&str]| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(
            &tickets,
            lines.iter().map(|line| line.repeat(32) + "\n").collect::<String>(),
        )?;
        std::fs::set_permissions(&tickets, std::fs::Permissions::from_mode(0o600))
    };
    let topics = "[topics]\npublish = [\"plant/{id}/#\"]\nsubscribe = [\"news/#\"]\n";
    settings("equal", topics)?;
    keys(&["11"])?;
    let file = config_file.display().to_string();
    let gateway = office.gateway("gateway", &["--config", &file]).await?;
    let reload = async |times: usize| {
        gateway.peer.signal("HUP").await?;
        let end = Instant::now() + Duration::from_secs(10);
        while gateway.peer.log().matches("reloaded policy").count() < times {
            ensure!(Instant::now() < end, "{}", gateway.peer.log());
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    };

    let pump = office.device("pump-1").await?;
    let mut session = connect("pump-1", &gateway, &pump).await?;
    session.handle.subscribe("news/#", QoS::AtMostOnce).await?;
    session.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    ensure!(
        reason(connect("pump-1/a", &gateway, &pump.clone().tickets(None)).await)?.contains("ClientIdentifierNotValid")
    );

    // The policy and the ticket key change: the ticket of the key before still opens.
    settings("prefix", topics)?;
    keys(&["22", "11"])?;
    reload(1).await?;
    let mut second = connect("pump-1/a", &gateway, &pump).await?;
    gateway.finishes(4, 1.0).await.context("under the previous key")?;
    second
        .handle
        .publish("plant/pump-1/x", QoS::AtLeastOnce, false, "x")
        .await?;
    second.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    second
        .handle
        .publish("plant/pump-2/x", QoS::AtLeastOnce, false, "x")
        .await?;
    ensure!(
        second
            .until(|_| false)
            .await
            .expect_err("stopped")
            .to_string()
            .contains("NotAuthorized")
    );
    gateway
        .reaches("kemqtt_guard_refusals_total{what=\"publishing not allowed\"}", 1.0)
        .await?;
    let log = gateway.peer.log();
    let line = log
        .lines()
        .find(|line| line.contains("stopped by the guard"))
        .context(log.clone())?;
    ensure!(
        line.contains("device=\"pump-1\"") && line.contains("\"plant/pump-2/x\""),
        "{line}"
    );

    // Both old keys are gone: a full handshake at the third attempt, by the client's own way out.
    keys(&["33"])?;
    reload(2).await?;
    let full = gateway.handshakes(2).await?;
    let mut attempts = 0;
    while connect("pump-1/b", &gateway, &pump).await.is_err() {
        attempts += 1;
        ensure!(attempts < 6, "no way out");
    }
    gateway.finishes(2, full + 1.0).await.context("a full handshake")?;

    // A file with a mistake changes nothing.
    std::fs::write(&config_file, "[identity]\nclient_id = \"any\"\n")?;
    gateway.peer.signal("HUP").await?;
    let end = Instant::now() + Duration::from_secs(10);
    while !gateway.peer.log().contains("not reloaded") {
        ensure!(Instant::now() < end, "{}", gateway.peer.log());
        sleep(Duration::from_millis(50)).await;
    }
    connect("pump-1/c", &gateway, &pump).await?;

    // The first session has lived through all of it.
    mosquitto_pub(broker.address(), "-t news/today -m still-there").await?;
    assert_eq!(session.message().await?.payload, "still-there");
    // Other topics end it: what it has subscribed to may be among those that it no longer may.
    settings("prefix", "[topics]\nsubscribe = [\"news/pump\"]\n")?;
    reload(3).await?;
    let ended = session.until(|_| false).await.expect_err("stopped").to_string();
    ensure!(ended.contains("AdministrativeAction"), "{ended}");
    Ok(())
}

/// 64 MiB in one PUBLISH pass while the gateway's memory stays where it was, in both directions.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_message_streams_with_bounded_memory() -> Result<()> {
    const SIZE: usize = 64 << 20;
    let (office, broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let backend = format!("tcp://{}", broker.address());
    let gateway = office.gateway("gateway", &["--backend", &backend]).await?;
    let config = office.device("pump-1").await?;
    let set = |options: &mut rumqttc::v5::MqttOptions| {
        options.set_max_packet_size(Some(SIZE as u32 + 1024));
    };
    let mut client = Client::connect("pump-1", &gateway.address().to_string(), config, set).await?;
    client.handle.subscribe("large", QoS::AtLeastOnce).await?;
    client.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    let before = gateway.resident()?;
    let payload: Vec<u8> = (0..SIZE).map(|i| ((i * 31) >> 8) as u8).collect();
    client
        .handle
        .publish("large", QoS::AtLeastOnce, false, payload.clone())
        .await?;
    let mut highest = before;
    let message = async {
        let message = client.message().await;
        message.map(|message| message.payload)
    };
    let watch = async {
        loop {
            sleep(Duration::from_millis(20)).await;
            highest = highest.max(gateway.resident().unwrap_or_default());
        }
    };
    let received = tokio::select! {
        received = message => received?,
        () = watch => unreachable!("watches for ever"),
    };
    ensure!(received == payload, "{} bytes came back changed", received.len());
    let grown = highest.saturating_sub(before);
    ensure!(grown < 4 << 20, "the gateway grew by {grown} bytes");
    Ok(())
}

/// A subscriber that reads nothing while 64 MiB wait for it costs the gateway nothing; the back end keeps or drops them.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_subscriber_does_not_grow_the_gateway() -> Result<()> {
    let broker =
        Mosquitto::start_with("allow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0\n").await?;
    let office = Office::open(None).await?;
    let backend = format!("tcp://{}", broker.address());
    let gateway = office.gateway("gateway", &["--backend", &backend]).await?;
    let wire = Throttle::start(gateway.address()).await?;
    let config = office.device("slow").await?;
    let mut slow = Client::connect("slow", &wire.address.to_string(), config, |_| {}).await?;
    slow.handle.subscribe("bulk", QoS::AtMostOnce).await?;
    slow.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    let before = gateway.resident()?;
    wire.stop_reading();
    let body = office.file("body");
    std::fs::write(&body, vec![b'x'; 1 << 20])?;
    let mut highest = before;
    for _ in 0..64 {
        let arguments = format!("-t bulk -q 0 -f {}", body.display());
        ensure!(mosquitto_pub(broker.address(), &arguments).await?.status.success());
        highest = highest.max(gateway.resident()?);
    }
    let grown = highest.saturating_sub(before);
    ensure!(grown < 4 << 20, "the gateway grew by {grown} bytes");
    // Others are served meanwhile.
    let other = office.device("other").await?;
    let mut other = connect("other", &gateway, &other).await?;
    other.handle.subscribe("ping", QoS::AtMostOnce).await?;
    other.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    mosquitto_pub(broker.address(), "-t ping -m now").await?;
    assert_eq!(other.message().await?.payload, "now");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_share_a_ticket_file() -> Result<()> {
    let (office, broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let tickets = office.file("tickets");
    std::fs::write(&tickets, "ab".repeat(32))?;
    std::fs::set_permissions(&tickets, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let (backend, tickets) = (format!("tcp://{}", broker.address()), tickets.display().to_string());
    let arguments = ["--backend", &backend, "--ticket-file", &tickets];
    let (one, two) = (
        office.gateway("one", &arguments).await?,
        office.gateway("two", &arguments).await?,
    );
    let balancer = Balancer::start(one.address()).await?;
    let config = office.device("pump-1").await?;
    let address = balancer.address().to_string();
    drop(Client::with_ticket("pump-1", &address, config.clone()).await?);
    balancer.point_at(two.address());
    let _second = Client::connect("pump-1", &address, config, |_| {}).await?;
    two.finishes(4, 1.0).await
}

/// A relay that stops reading from the gateway when told.
struct Throttle {
    address: std::net::SocketAddr,
    stopped: tokio::sync::watch::Sender<bool>,
}

impl Throttle {
    async fn start(target: std::net::SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stopped, gate) = tokio::sync::watch::channel(false);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(Self::relay(near, target, gate.clone()));
            }
        });
        Ok(Self { address, stopped })
    }

    async fn relay(
        near: TcpStream,
        target: std::net::SocketAddr,
        mut gate: tokio::sync::watch::Receiver<bool>,
    ) -> Result<()> {
        let ((mut from_near, mut to_near), (mut from_far, mut to_far)) =
            (near.into_split(), TcpStream::connect(target).await?.into_split());
        tokio::spawn(async move { tokio::io::copy(&mut from_near, &mut to_far).await });
        let mut buffer = vec![0; 4096];
        loop {
            gate.wait_for(|stopped| !stopped).await?;
            let len = from_far.read(&mut buffer).await?;
            ensure!(len > 0, "closed");
            to_near.write_all(&buffer[..len]).await?;
        }
    }

    fn stop_reading(&self) {
        self.stopped.send_replace(true);
    }
}
