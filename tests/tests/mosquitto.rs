//! Mosquitto behind the front, and its own clients in front of the sidecar: neither of them knows about HKM1.

use std::time::Duration;

use anyhow::{Result, ensure};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Backend, metrics::Violation, policy::TopicRules};
use kemqtt_tests::{Direction, Mosquitto, Peer, Realm, Recorder, Sidecar, mosquitto_pub, mosquitto_sub, tshark};
use tokio::time::{Instant, sleep};

async fn realm(broker: &Mosquitto) -> Result<Realm> {
    Realm::start(Backend::tcp(broker.address().to_string())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_clients_talk_through_the_sidecar_in_both_versions() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let realm = realm(&broker).await?;
    let sidecar = Sidecar::start(&realm.address(), &realm.psk_files("pump-1").await?).await?;
    for version in ["mqttv311", "5"] {
        for qos in 0..=2 {
            let topic = format!("stock/{version}/{qos}");
            let arguments = format!("-V {version} -q {qos} -i pump-1 -r -t {topic} -m hello");
            let published = mosquitto_pub(sidecar.address(), &arguments).await?;
            assert!(published.status.success(), "{published:?}\n{}", sidecar.log());
            // The sidecar's device may not be connected twice; the other side is a plain client of Mosquitto itself.
            let received = mosquitto_sub(broker.address(), &format!("-V {version} -t {topic} -C 1")).await?;
            assert_eq!(received.stdout, b"hello\n", "{topic}");
        }
        let received = mosquitto_sub(
            sidecar.address(),
            &format!("-V {version} -q 2 -t stock/{version}/# -C 3 -v"),
        )
        .await?;
        let mut lines: Vec<_> = std::str::from_utf8(&received.stdout)?
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            (0..=2)
                .map(|qos| format!("stock/{version}/{qos} hello"))
                .collect::<Vec<_>>()
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_back_end_sees_the_identity_and_not_the_login_of_the_client() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let realm = realm(&broker).await?;
    let sidecar = Sidecar::start(&realm.address(), &realm.psk_files("pump-2").await?).await?;
    for version in ["mqttv311", "5"] {
        let arguments = format!("-V {version} -u somebody -P else -t t -m m");
        let published = mosquitto_pub(sidecar.address(), &arguments).await?;
        assert!(published.status.success(), "{published:?}\n{}", sidecar.log());
    }
    let log = broker.peer.log();
    assert!(log.contains("as pump-2 (p2, c1, k60, u'kem:pump-2')"), "{log}");
    assert!(log.contains("as pump-2 (p5, c1, k60, u'kem:pump-2')"), "{log}");
    assert!(!log.contains("somebody"), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_back_end_is_named_in_the_clients_own_version() -> Result<()> {
    let mut broker = Mosquitto::start().await?;
    let realm = realm(&broker).await?;
    let sidecar = Sidecar::start(&realm.address(), &realm.psk_files("pump-3").await?).await?;
    broker.peer.kill().await?;
    let old = mosquitto_pub(sidecar.address(), "-V mqttv311 -t t -m m").await?;
    let new = mosquitto_pub(sidecar.address(), "-V 5 -t t -m m").await?;
    let (old, new) = (String::from_utf8(old.stderr)?, String::from_utf8(new.stderr)?);
    assert!(old.contains("Connection Refused: broker unavailable"), "{old}");
    assert!(new.contains("Server unavailable"), "{new}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_sees_four_packets_then_reserved_types_and_no_names() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let realm = realm(&broker).await?;
    let wire = Recorder::start(realm.front.local_addr()).await?;
    let sidecar = Sidecar::start(&wire.address().to_string(), &realm.psk_files("hidden-client").await?).await?;
    let arguments = "-V 5 -i hidden-client -t hidden/topic -m hidden-message -q 1";
    let published = mosquitto_pub(sidecar.address(), arguments).await?;
    assert!(published.status.success(), "{published:?}\n{}", sidecar.log());

    let pcap = broker.folder().join("secure.pcap");
    wire.write_pcap(&pcap).await?;
    let packets = tshark(&pcap, "-T fields -e mqtt.msgtype -Y mqtt").await?;
    let types: Vec<_> = packets
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    assert_eq!(types[..4], ["1", "15", "15", "2"], "CONNECT, AUTH, AUTH, CONNACK");
    assert!(
        types.len() >= 7 && types[4..].iter().all(|kind| *kind == "0"),
        "records only: {types:?}"
    );
    let connect = tshark(&pcap, "-V -Y mqtt.msgtype==1").await?;
    assert!(
        connect.contains("Authentication Method") && connect.contains("HKM1"),
        "{connect}"
    );
    for direction in [Direction::ToBroker, Direction::ToClient] {
        let bytes = wire.bytes(direction);
        for secret in ["hidden-client", "hidden/topic", "hidden-message"] {
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
                "{secret} in clear"
            );
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_client_on_the_secure_port_is_told_so() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let realm = Realm::start_with(
        Backend::tcp(broker.address().to_string()),
        KemId::MlKem512,
        Group::X25519,
        false,
    )
    .await?;
    let new = mosquitto_pub(realm.front.local_addr(), "-V 5 -t t -m m").await?;
    let new = String::from_utf8(new.stderr)?;
    assert!(new.contains("Bad authentication method"), "{new}");
    let old = mosquitto_pub(realm.front.local_addr(), "-V mqttv311 -t t -m m").await?;
    let old = String::from_utf8(old.stderr)?;
    assert!(old.contains("not authorised"), "{old}");
    Ok(())
}

/// Mosquitto itself lets everybody do everything; its log shows what has reached it.
#[tokio::test(flavor = "multi_thread")]
async fn stock_clients_are_kept_to_the_topics_of_their_device() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let realm = realm(&broker).await?;
    let sidecar = Sidecar::start(&realm.address(), &realm.psk_files("pump-4").await?).await?;
    let own = TopicRules {
        publish: Some(vec!["sensors/{id}/#".to_owned()]),
        subscribe: Some(vec!["commands/{id}/+".to_owned()]),
    };
    realm.registry.set_topics("pump-4", &own).await?;
    let metrics = realm.front.metrics();
    // Stock clients try again and again, so they are stopped when the front has said no.
    let refused = async |program: &str, arguments: &str, what: &'static str| -> Result<()> {
        let label = Violation { what };
        let counted = || metrics.violations.get_or_create(&label).get();
        let (address, before) = (sidecar.address(), counted());
        let words = format!("-h {} -p {} {arguments}", address.ip(), address.port());
        let log = broker.folder().join("refused.log");
        let _client = Peer::start(program, words.split(' '), &log)?;
        let end = Instant::now() + Duration::from_secs(60);
        while counted() == before {
            ensure!(Instant::now() < end, "{what}: not refused");
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    };
    for version in ["mqttv311", "5"] {
        let (allowed, forbidden) = (format!("sensors/pump-4/{version}"), format!("sensors/pump-5/{version}"));
        let arguments = format!("-V {version} -q 1 -t {forbidden}");
        refused("mosquitto_sub", &arguments, "subscription not allowed").await?;
        refused("mosquitto_pub", &format!("{arguments} -m x"), "publishing not allowed").await?;
        let arguments = format!("-V {version} -E -t commands/pump-4/{version}");
        let subscribed = mosquitto_sub(sidecar.address(), &arguments).await?;
        assert!(subscribed.status.success(), "{subscribed:?}\n{}", sidecar.log());
        let arguments = format!("-V {version} -q 1 -t {allowed} -m x");
        let published = mosquitto_pub(sidecar.address(), &arguments).await?;
        assert!(published.status.success(), "{published:?}\n{}", sidecar.log());
        // Acknowledged, so it is in the log, and what came before would be too.
        let log = broker.peer.log();
        assert!(log.contains(&allowed) && !log.contains(&forbidden), "{log}");
    }
    Ok(())
}
