//! ejabberd's mod_mqtt behind a gateway: MQTT 5.0 whose user names are JIDs.

use std::time::Duration;

use anyhow::{Result, ensure};
use kemqtt_client::Config;
use kemqtt_tests::{Client, Ejabberd, Gateway, Office, mosquitto_pub};
use rumqttc::v5::{
    Incoming, MqttOptions,
    mqttbytes::{
        QoS,
        v5::{ConnectProperties, ConnectReturnCode, LastWill},
    },
};
use tokio::time::{Instant, sleep};

struct Site {
    ejabberd: Ejabberd,
    office: Office,
    gateway: Gateway,
}

impl Site {
    async fn start() -> Result<Self> {
        let users = ["kem.pump-1", "kem.meter-1", r"kem.\50ump\3a1"];
        let ejabberd = Ejabberd::start(&users, "secret").await?;
        let office = Office::open(None).await?;
        let gateway = gateway(&office, &ejabberd, "secret").await?;
        Ok(Self {
            ejabberd,
            office,
            gateway,
        })
    }

    async fn connect(&self, id: &str, config: Config, set: impl FnOnce(&mut MqttOptions)) -> Result<Client> {
        Client::connect(id, &self.gateway.address().to_string(), config, set).await
    }
}

async fn gateway(office: &Office, ejabberd: &Ejabberd, password: &str) -> Result<Gateway> {
    let file = office.file(&format!("{password}.txt"));
    std::fs::write(&file, format!("{password}\n"))?;
    let backend = format!("tcp://{}", ejabberd.address());
    let file = file.display().to_string();
    let names = ["--user-prefix", "kem.", "--user-form", "jid", "--password-file", &file];
    let arguments = [&["--backend", &backend], &names[..]].concat();
    office.gateway(password, &arguments).await
}

/// One node for all of it: it takes some seconds to start.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_before_ejabberd() -> Result<()> {
    let site = Site::start().await?;
    let (pump, meter) = (
        site.office.device("pump-1").await?,
        site.office.device("meter-1").await?,
    );
    every_qos_arrives_once_both_ways(&site, &pump, &meter).await?;
    a_retained_message_waits(&site, &pump, &meter).await?;
    a_will_is_for_the_lost_only(&site, &pump, &meter).await?;
    messages_wait_for_a_session(&site, &pump, &meter).await?;
    the_secret_is_what_lets_in(&site, &pump).await?;
    no_two_devices_share_a_jid(&site).await
}

async fn every_qos_arrives_once_both_ways(site: &Site, pump: &Config, meter: &Config) -> Result<()> {
    let mut one = site.connect("pump-1", pump.clone(), |_| {}).await?;
    let mut other = site.connect("meter-1", meter.clone(), |_| {}).await?;
    for (client, filter) in [(&mut one, "to/pump"), (&mut other, "to/meter")] {
        client.handle.subscribe(filter, QoS::ExactlyOnce).await?;
        client.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    }
    let levels = [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce];
    for (number, qos) in levels.into_iter().cycle().take(9).enumerate() {
        for (client, topic) in [(&one, "to/meter"), (&other, "to/pump")] {
            client.handle.publish(topic, qos, false, number.to_string()).await?;
        }
    }
    let receive = async |mut client: Client, topic: &'static str| {
        let levels = levels.into_iter().cycle().take(9);
        for (number, qos) in levels.enumerate() {
            let message = client.message().await?;
            let got = (&message.topic[..], &message.payload[..], message.qos);
            assert_eq!(got, (topic.as_bytes(), number.to_string().as_bytes(), qos));
        }
        // A second copy would be here by now.
        client.run_for(Duration::from_millis(300)).await?;
        anyhow::Ok(())
    };
    tokio::try_join!(receive(one, "to/pump"), receive(other, "to/meter"))?;
    // Two devices, each under its own JID.
    for jid in ["kem.pump-1@localhost/pump-1", "kem.meter-1@localhost/meter-1"] {
        is_logged(site, jid).await?;
    }
    Ok(())
}

async fn a_retained_message_waits(site: &Site, pump: &Config, meter: &Config) -> Result<()> {
    let mut sender = site.connect("pump-1", pump.clone(), |_| {}).await?;
    sender.handle.publish("kept/1", QoS::AtLeastOnce, true, "1.02").await?;
    sender.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    let mut late = site.connect("meter-1", meter.clone(), |_| {}).await?;
    late.handle.subscribe("kept/+", QoS::AtLeastOnce).await?;
    let message = late.message().await?;
    let got = (&message.topic[..], &message.payload[..], message.retain);
    assert_eq!(got, (&b"kept/1"[..], &b"1.02"[..], true));
    Ok(())
}

async fn a_will_is_for_the_lost_only(site: &Site, pump: &Config, meter: &Config) -> Result<()> {
    let mut receiver = site.connect("meter-1", meter.clone(), |_| {}).await?;
    receiver.handle.subscribe("will/+", QoS::AtLeastOnce).await?;
    receiver.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    for (name, leaves) in [("leaving", true), ("lost", false)] {
        let will = LastWill::new(format!("will/{name}"), "gone", QoS::AtLeastOnce, false, None);
        let set = |options: &mut MqttOptions| {
            options.set_last_will(will);
        };
        let client = site.connect("pump-1", pump.clone(), set).await?;
        if leaves {
            client.handle.disconnect().await?;
            client.end().await;
        }
    }
    let message = receiver.message().await?;
    let got = (&message.topic[..], &message.payload[..]);
    assert_eq!(got, (&b"will/lost"[..], &b"gone"[..]));
    Ok(())
}

async fn messages_wait_for_a_session(site: &Site, pump: &Config, meter: &Config) -> Result<()> {
    let lasting = |options: &mut MqttOptions| {
        let mut properties = ConnectProperties::new();
        properties.session_expiry_interval = Some(60);
        options.set_clean_start(false).set_connect_properties(properties);
    };
    let mut receiver = site.connect("meter-1", meter.clone(), lasting).await?;
    receiver.handle.subscribe("wait/+", QoS::AtLeastOnce).await?;
    receiver.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    drop(receiver);
    let mut sender = site.connect("pump-1", pump.clone(), |_| {}).await?;
    sender
        .handle
        .publish("wait/1", QoS::AtLeastOnce, false, "later")
        .await?;
    sender.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    let mut receiver = site.connect("meter-1", meter.clone(), lasting).await?;
    assert_eq!(receiver.message().await?.payload, "later");
    Ok(())
}

/// Neither a stranger on the plain port nor a gateway without the secret gets in under a device's name.
async fn the_secret_is_what_lets_in(site: &Site, pump: &Config) -> Result<()> {
    let direct = mosquitto_pub(
        site.ejabberd.address(),
        "-V 5 -u kem.pump-1 -P guess -i pump-1 -t t -m m",
    )
    .await?;
    assert!(!direct.status.success(), "{direct:?}");
    let wrong = gateway(&site.office, &site.ejabberd, "wrong").await?;
    let refused = Client::connect("pump-1", &wrong.address().to_string(), pump.clone(), |_| {}).await;
    assert_eq!(Client::refusal(refused), ConnectReturnCode::NotAuthorized);
    wrong.reaches("kemqtt_refusals_total{cause=\"backend\"", 1.0).await
}

/// ejabberd would take each of these for `kem.pump-1@localhost`, were they handed on as they are. It knows them under
/// names of their own, or not at all.
async fn no_two_devices_share_a_jid(site: &Site) -> Result<()> {
    for id in ["pump-1@localhost", "PUMP-1", "Pump-1"] {
        let config = site.office.device(id).await?;
        let refused = site.connect(id, config, |_| {}).await;
        assert_eq!(Client::refusal(refused), ConnectReturnCode::NotAuthorized, "{id}");
    }
    let config = site.office.device("Pump:1").await?;
    let _session = site.connect("Pump:1", config, |_| {}).await?;
    is_logged(site, r"kem.\50ump\3a1@localhost/Pump:1").await
}

/// The node writes its log when it has time.
async fn is_logged(site: &Site, jid: &str) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    while !site.ejabberd.log().contains(jid) {
        ensure!(Instant::now() < end, "no `{jid}` in:\n{}", site.ejabberd.log());
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
