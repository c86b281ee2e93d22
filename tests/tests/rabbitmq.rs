//! Two gateways before a RabbitMQ cluster of three nodes, with one registry in PostgreSQL.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use kemqtt_client::{Config, rumqttc::v4::options};
use kemqtt_tests::{Balancer, Gateway, Office, Postgres, RabbitMq};
use rumqttc::{AsyncClient, Event, Incoming, Outgoing, QoS};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

/// What a client of MQTT 3.1.1 went through.
enum Happened {
    Up,
    Sent(u16),
    Acknowledged(u16),
    Subscribed,
    Received(String),
    Down,
}

/// A client that reconnects for ever.
struct Client {
    handle: AsyncClient,
    happened: UnboundedReceiver<Happened>,
    task: JoinHandle<()>,
}

impl Client {
    async fn start(id: &str, address: &str, config: Config) -> Result<Self> {
        let (mut options, bridge) = options(id, address, config).await?;
        options.set_keep_alive(Duration::from_secs(10)).set_clean_session(false);
        let (handle, mut events) = AsyncClient::new(options, 64);
        let (tell, happened) = unbounded_channel();
        let task = tokio::spawn(async move {
            let _bridge = bridge;
            loop {
                let news = match events.poll().await {
                    Ok(Event::Incoming(Incoming::ConnAck(_))) => Happened::Up,
                    Ok(Event::Incoming(Incoming::PubAck(ack))) => Happened::Acknowledged(ack.pkid),
                    Ok(Event::Incoming(Incoming::SubAck(_))) => Happened::Subscribed,
                    Ok(Event::Incoming(Incoming::Publish(publish))) => {
                        Happened::Received(String::from_utf8_lossy(&publish.payload).into_owned())
                    }
                    Ok(Event::Outgoing(Outgoing::Publish(id))) => Happened::Sent(id),
                    Ok(_) => continue,
                    Err(_) => {
                        sleep(Duration::from_millis(200)).await;
                        Happened::Down
                    }
                };
                if tell.send(news).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { handle, happened, task };
        client.until(|news| matches!(news, Happened::Up)).await?;
        Ok(client)
    }

    async fn until(&mut self, mut done: impl FnMut(&Happened) -> bool) -> Result<()> {
        loop {
            match timeout(PATIENCE, self.happened.recv()).await {
                Ok(Some(news)) if done(&news) => return Ok(()),
                Ok(Some(_)) => {}
                _ => bail!("waited {PATIENCE:?} for a packet"),
            }
        }
    }

    /// Publishes a number until it is acknowledged.
    async fn publish(&mut self, number: usize) -> Result<()> {
        loop {
            self.handle
                .publish("plant/number", QoS::AtLeastOnce, false, number.to_string())
                .await?;
            let mut sent = None;
            loop {
                match timeout(PATIENCE, self.happened.recv()).await?.context("client ended")? {
                    Happened::Sent(id) => sent = Some(id),
                    Happened::Acknowledged(id) if sent == Some(id) => return Ok(()),
                    Happened::Down => break,
                    _ => {}
                }
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Fleet {
    cluster: RabbitMq,
    office: Office,
    gateways: [Gateway; 2],
    _database: Postgres,
}

impl Fleet {
    async fn start() -> Result<Self> {
        let users = ["dev.pump-1", "dev.meter-1", "dev.bad-1"];
        let (cluster, database) = tokio::join!(RabbitMq::start(3, &users, "secret"), Postgres::start());
        let (cluster, database) = (cluster?, database?);
        let office = Office::open(Some(database.url())).await?;
        let password = office.file("password");
        std::fs::write(&password, "secret\n")?;
        let gateway = async |name: &str, node: usize| {
            let backend = format!("tcp://{}", cluster.mqtt(node));
            let password = password.display().to_string();
            // RabbitMQ takes what stands before a colon for a virtual host.
            let arguments = [
                "--backend",
                &backend,
                "--proxy-protocol",
                "--user-prefix",
                "dev.",
                "--password-file",
            ];
            let policy = ["--client-id-policy", "prefix"];
            let all = [&arguments[..], &[&password], &policy].concat();
            office.gateway(name, &all).await
        };
        let gateways = [gateway("one", 1).await?, gateway("two", 2).await?];
        Ok(Self {
            cluster,
            office,
            gateways,
            _database: database,
        })
    }

    fn address(&self, gateway: usize) -> String {
        self.gateways[gateway].address().to_string()
    }
}

/// One cluster for all of it: it takes a minute to start.
#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_before_a_cluster() -> Result<()> {
    let mut fleet = Fleet::start().await?;
    messages_cross_the_cluster(&fleet).await?;
    a_revocation_reaches_both_gateways(&fleet).await?;
    nothing_acknowledged_is_lost(&mut fleet).await
}

async fn messages_cross_the_cluster(fleet: &Fleet) -> Result<()> {
    let mut meter = Client::start("meter-1/x", &fleet.address(1), fleet.office.device("meter-1").await?).await?;
    meter.handle.subscribe("plant/#", QoS::AtLeastOnce).await?;
    meter.until(|news| matches!(news, Happened::Subscribed)).await?;
    let mut pump = Client::start("pump-1", &fleet.address(0), fleet.office.device("pump-1").await?).await?;
    pump.publish(7).await?;
    meter
        .until(|news| matches!(news, Happened::Received(text) if text == "7"))
        .await?;
    // What the gateway saw as its peer is what the node was told.
    let log = fleet.gateways[0].peer.log();
    let line = log
        .lines()
        .rfind(|line| line.contains("connected"))
        .context("no line")?;
    let line: String = line.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').collect();
    let peer = line.split("127.0.0.1:").nth(1).context("no peer")?;
    let port: String = peer.chars().take_while(char::is_ascii_digit).collect();
    let (told, end) = (format!("127.0.0.1:{port} ->"), Instant::now() + PATIENCE);
    // The node writes its log when it has time.
    while !fleet.cluster.log(1)?.contains(&told) {
        ensure!(Instant::now() < end, "no `{told}` in:\n{}", fleet.cluster.log(1)?);
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

async fn a_revocation_reaches_both_gateways(fleet: &Fleet) -> Result<()> {
    let config = fleet.office.device("bad-1").await?;
    let _sessions = (
        Client::start("bad-1/a", &fleet.address(0), config.clone()).await?,
        Client::start("bad-1/b", &fleet.address(1), config).await?,
    );
    fleet.office.run(&["revoke", "bad-1"]).await?;
    let told = Instant::now();
    for gateway in &fleet.gateways {
        gateway.reaches("kemqtt_closed_total{cause=\"revoked\"}", 1.0).await?;
        gateway.reaches("kemqtt_refusals_total{cause=\"revoked\"", 1.0).await?;
    }
    ensure!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
    Ok(())
}

async fn nothing_acknowledged_is_lost(fleet: &mut Fleet) -> Result<()> {
    const COUNT: usize = 300;
    let balancer = Balancer::start(fleet.gateways[0].address()).await?;
    let address = balancer.address().to_string();
    let psk = |name: &'static str| fleet.office.again(name);
    let mut meter = Client::start("meter-1", &address, psk("meter-1")?).await?;
    meter.handle.subscribe("plant/number", QoS::AtLeastOnce).await?;
    meter.until(|news| matches!(news, Happened::Subscribed)).await?;
    let mut pump = Client::start("pump-1", &address, psk("pump-1")?).await?;

    let acknowledged = Arc::new(AtomicUsize::new(0));
    let progress = acknowledged.clone();
    let publishing = tokio::spawn(async move {
        for number in 0..COUNT {
            pump.publish(number).await?;
            progress.store(number + 1, Ordering::Relaxed);
        }
        Ok::<_, anyhow::Error>(())
    });
    while acknowledged.load(Ordering::Relaxed) < COUNT / 3 {
        ensure!(!publishing.is_finished(), "publisher ended early");
        sleep(Duration::from_millis(5)).await;
    }
    fleet.cluster.kill(1).await?;
    fleet.gateways[0].peer.kill().await?;
    balancer.point_at(fleet.gateways[1].address());

    let mut missing: BTreeSet<String> = (0..COUNT).map(|number| number.to_string()).collect();
    let received = meter.until(|news| {
        if let Happened::Received(text) = news {
            missing.remove(text);
        }
        missing.is_empty()
    });
    let received = timeout(Duration::from_secs(180), received).await;
    let acknowledged = acknowledged.load(Ordering::Relaxed);
    ensure!(
        matches!(received, Ok(Ok(()))),
        "{acknowledged} acknowledged, missing {missing:?}\n{}",
        fleet.gateways[1].peer.log()
    );
    timeout(PATIENCE, publishing).await???;
    let resumed = fleet.gateways[1].metric("mode=\"4\"").await?;
    ensure!(
        resumed >= 2.0,
        "both clients resume at the other gateway, not {resumed}"
    );
    Ok(())
}

/// RabbitMQ needs some seconds to give up a node.
const PATIENCE: Duration = Duration::from_secs(60);
