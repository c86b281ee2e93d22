//! What stands around a gateway fails under live sessions: the back end, the disk, the ticket keys of a shared registry.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig, registry::SealKey};
use kemqtt_client::{Config, Credential, Pins};
use kemqtt_tests::{Client, Direction, Gateway, Happened, Mosquitto, Office, Postgres, Relay, Steady, get};
use rumqttc::v5::{
    Incoming,
    mqttbytes::{QoS, v5::ConnectReturnCode},
};
use tokio::time::{Instant, sleep, timeout};

struct Site {
    broker: Mosquitto,
    office: Office,
    gateway: Gateway,
}

impl Site {
    async fn start() -> Result<Self> {
        let (broker, office) = (Mosquitto::start_lasting().await?, Office::open(None).await?);
        let backend = format!("tcp://{}", broker.address());
        let gateway = office.gateway("gateway", &["--backend", &backend]).await?;
        Ok(Self {
            broker,
            office,
            gateway,
        })
    }

    fn address(&self) -> String {
        self.gateway.address().to_string()
    }

    async fn steady(&self, id: &str) -> Result<Steady> {
        Steady::start(id, &self.address(), self.office.device(id).await?).await
    }

    async fn connect(&self, id: &str, config: &Config) -> Result<Client> {
        Client::connect(id, &self.address(), config.clone(), |_| {}).await
    }

    /// Waits until the gateway holds no more descriptors and connections than this.
    async fn calms_down(&self, descriptors: usize, open: f64) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let now = (
                self.gateway.peer.descriptors()?,
                self.gateway.metric("kemqtt_open ").await?,
                self.gateway.metric("kemqtt_half_open").await?,
            );
            if now.0 <= descriptors + POOL && now.1 <= open && now.2 == 0.0 {
                return Ok(());
            }
            ensure!(Instant::now() < end, "{now:?}, not {descriptors} and {open}");
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Mosquitto stops and starts again under live sessions, once orderly and once not at all. It keeps what it has
/// acknowledged only if it is asked to stop: then all of it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_back_end_that_restarts_costs_no_acknowledged_message() -> Result<()> {
    const COUNT: usize = 150;
    let mut site = Site::start().await?;
    let mut meter = site.steady("meter-1").await?;
    meter.subscribe("plant/number").await?;
    let mut pump = site.steady("pump-1").await?;
    let config = site.office.device("watch-1").await?;
    let mut watch = site.connect("watch-1", &config).await?;
    // Pages that a scraper leaves open are not counted: everything here closes its own.
    let descriptors = site.gateway.peer.descriptors()?;

    let publishing = tokio::spawn(async move {
        for number in 0..COUNT {
            pump.publish("plant/number", number).await?;
        }
        anyhow::Ok(pump)
    });
    let mut missing: BTreeSet<String> = (0..COUNT).map(|number| number.to_string()).collect();
    let mut receive = async |left: usize| {
        let received = meter.until(|news| {
            if let Happened::Received(text) = news {
                missing.remove(text);
            }
            missing.len() <= left
        });
        received.await
    };
    receive(COUNT * 2 / 3).await?;
    site.broker.peer.terminate().await?;
    ensure!(
        watch.until(|_| false).await.is_err(),
        "its session goes with the back end"
    );
    down(&site, &config).await?;
    site.broker.restart().await?;
    receive(0).await?;
    let pump = timeout(PATIENCE, publishing).await???;
    up(&site).await?;

    let mut watch = site.connect("watch-1", &config).await?;
    site.calms_down(descriptors, 3.0).await?;
    site.broker.peer.kill().await?;
    ensure!(watch.until(|_| false).await.is_err());
    down(&site, &config).await?;
    site.broker.restart().await?;
    let _watch = site.connect("watch-1", &config).await?;
    up(&site).await?;
    site.gateway
        .reaches("kemqtt_closed_total{cause=\"backend-closed\"}", 6.0)
        .await?;
    drop(pump);
    site.calms_down(descriptors, 3.0).await
}

/// While the back end is away clients are told so, each in its own version of MQTT, and so is the operator.
async fn down(site: &Site, config: &Config) -> Result<()> {
    let refused = site.connect("watch-1", config).await;
    assert_eq!(Client::refusal(refused), ConnectReturnCode::ServerUnavailable);
    assert_eq!(site.gateway.metric("kemqtt_backend_up").await?, 0.0);
    let (status, body) = get(site.gateway.admin(), "/ready").await?;
    assert_eq!((&status[9..12], &*body), ("503", "down: back end\n"));
    // Those that come again and again are told the same: 136 is 0x88.
    let counter = "kemqtt_refusals_total{cause=\"backend-unreachable\",code=\"136\"}";
    let before = site.gateway.metric(counter).await?;
    site.gateway.reaches(counter, before + 2.0).await
}

async fn up(site: &Site) -> Result<()> {
    assert_eq!(site.gateway.metric("kemqtt_backend_up").await?, 1.0);
    let (status, _) = get(site.gateway.admin(), "/ready").await?;
    assert_eq!(&status[9..12], "200");
    Ok(())
}

/// A client of MQTT 3.1.1 hears return code 3.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_client_is_told_of_a_dead_back_end_in_its_own_words() -> Result<()> {
    let mut site = Site::start().await?;
    let mut pump = site.steady("pump-1").await?;
    site.broker.peer.kill().await?;
    pump.until(|news| matches!(news, Happened::Down(why) if why.contains("ServiceUnavailable")))
        .await
}

/// Sessions go on and new ones come in while nothing can be written; what was to be noted is noted later.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_no_device() -> Result<()> {
    let site = Site::start().await?;
    let (pump, meter) = (
        site.office.device("pump-1").await?,
        site.office.device("meter-1").await?,
    );
    let mut session = site.connect("pump-1", &pump).await?;
    let errors = "kemqtt_registry_errors_total{wanted=\"last-seen\"}";
    let descriptors = site.gateway.peer.descriptors()?;

    site.gateway.peer.fill_disk().await?;
    let mut late = site.connect("meter-1", &meter).await?;
    for client in [&mut session, &mut late] {
        client.handle.publish("t", QoS::AtLeastOnce, false, "x").await?;
        client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    }
    site.gateway.reaches(errors, 2.0).await?;
    assert_eq!(
        site.gateway.metric("kemqtt_registry_up").await?,
        1.0,
        "it still answers"
    );
    ensure!(last_seen(&site, "meter-1").await?.is_none());

    site.gateway.peer.free_disk().await?;
    let noted = async {
        while last_seen(&site, "meter-1").await?.is_none() {
            sleep(Duration::from_millis(200)).await;
        }
        anyhow::Ok(())
    };
    timeout(PATIENCE, noted).await.context("never noted")??;
    drop((session, late));
    site.calms_down(descriptors, 0.0).await
}

/// What `list` says about when a device was last there.
async fn last_seen(site: &Site, id: &str) -> Result<Option<u64>> {
    let list = site.office.run(&["list"]).await?;
    let line = list.lines().find(|line| line.starts_with(id)).context("listed")?;
    let column = line.split_whitespace().nth(3).context("a column")?;
    Ok(column.parse().ok())
}

/// The keys that opened a ticket are gone from the database before its handshake ends: it ends well all the same.
#[tokio::test(flavor = "multi_thread")]
async fn shared_ticket_keys_may_change_in_the_middle_of_a_handshake() -> Result<()> {
    let server = Postgres::start().await?;
    let registry = Registry::postgres(&server.url(), SealKey::generate()?).await?;
    let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let psk = registry.enroll_psk("s1").await?;
    let config = Config::new(Pins::from_text(&pin)?, Credential::from_text(&psk)?);
    let time = Arc::new(AtomicU64::new(NOW));
    let clock = time.clone();
    let front = Front::builder()
        .registry(registry.clone())
        .backend(Backend::rumqttd(RumqttdConfig::default()))
        .clock(move || clock.load(Ordering::Relaxed))
        .build()
        .await?;
    let relay = Relay::start(front.local_addr()).await?;
    let connect = async || Client::with_ticket("s1", &relay.address(), config.clone()).await;
    let resumed = |times| front.metrics().encode().contains(&format!("mode=\"4\"}} {times}\n"));
    drop(connect().await?);

    // Behind CONNECT with M1 comes AUTH with M3.
    let held = relay.hold(Direction::ToBroker, 1);
    let rotate = async {
        held.reached().await;
        let current = async |now| anyhow::Ok(*registry.ticket_keys(now).await?.0.expose());
        let mut keys = vec![current(NOW).await?];
        for days in [1, 2] {
            let now = NOW + days * 90_000;
            time.store(now, Ordering::Relaxed);
            front.reload(Front::builder()).await;
            keys.push(current(now).await?);
        }
        ensure!(keys[0] != keys[1] && keys[1] != keys[2], "a new one each day");
        drop(held);
        Ok(())
    };
    let (session, rotated) = tokio::join!(connect(), rotate);
    rotated?;
    ensure!(resumed(1), "{}", front.metrics().encode());
    drop(session?);
    // Two days after its full handshake it makes another one, and goes on from there.
    drop(connect().await?);
    ensure!(!resumed(2), "{}", front.metrics().encode());
    connect().await?;
    ensure!(resumed(2), "{}", front.metrics().encode());
    assert_eq!(front.metrics().registry_up.get(), 1);
    front.shutdown().await;
    registry.close().await;
    Ok(())
}

/// Where the clock of that front begins, in Unix seconds.
const NOW: u64 = 1_800_000_000;
/// Descriptors of the connections to the registry that are opened when they are needed first.
const POOL: usize = 12;
const PATIENCE: Duration = Duration::from_secs(60);
