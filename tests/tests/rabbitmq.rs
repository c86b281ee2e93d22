//! Two gateways before a RabbitMQ cluster of three nodes, with one registry in PostgreSQL.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kemqtt_tests::{Balancer, Gateway, Happened, Office, Postgres, RabbitMq, Steady};
use tokio::time::{Instant, sleep, timeout};

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
    let mut meter = Steady::start("meter-1/x", &fleet.address(1), fleet.office.device("meter-1").await?).await?;
    meter.subscribe("plant/#").await?;
    let mut pump = Steady::start("pump-1", &fleet.address(0), fleet.office.device("pump-1").await?).await?;
    pump.publish("plant/number", 7).await?;
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
        Steady::start("bad-1/a", &fleet.address(0), config.clone()).await?,
        Steady::start("bad-1/b", &fleet.address(1), config).await?,
    );
    fleet.office.run(&["revoke", "bad-1"]).await?;
    let told = Instant::now();
    for gateway in &fleet.gateways {
        gateway.reaches("kemqtt_closed_total{cause=\"revoked\"}", 1.0).await?;
    }
    ensure!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
    // When they come again is for the clients to say.
    for gateway in &fleet.gateways {
        gateway.reaches("kemqtt_refusals_total{cause=\"revoked\"", 1.0).await?;
    }
    Ok(())
}

async fn nothing_acknowledged_is_lost(fleet: &mut Fleet) -> Result<()> {
    const COUNT: usize = 300;
    let balancer = Balancer::start(fleet.gateways[0].address()).await?;
    let address = balancer.address().to_string();
    let psk = |name: &'static str| fleet.office.again(name);
    let mut meter = Steady::start("meter-1", &address, psk("meter-1")?).await?;
    meter.subscribe("plant/number").await?;
    let mut pump = Steady::start("pump-1", &address, psk("pump-1")?).await?;

    let acknowledged = Arc::new(AtomicUsize::new(0));
    let progress = acknowledged.clone();
    let publishing = tokio::spawn(async move {
        for number in 0..COUNT {
            pump.publish("plant/number", number).await?;
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
    let resumed = fleet.gateways[1].handshakes(4).await?;
    ensure!(
        resumed >= 2.0,
        "both clients resume at the other gateway, not {resumed}"
    );
    Ok(())
}

/// RabbitMQ needs some seconds to give up a node.
const PATIENCE: Duration = Duration::from_secs(60);
