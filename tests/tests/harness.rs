//! The harness itself against plain MQTT, so that a failure elsewhere is not the harness's.

use anyhow::Result;
use kemqtt_tests::{Direction, Mosquitto, Recorder, mosquitto_pub, mosquitto_sub, tshark};

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_session_is_readable_in_the_capture() -> Result<()> {
    let broker = Mosquitto::start().await?;
    let wire = Recorder::start(broker.address()).await?;
    let published = mosquitto_pub(wire.address(), "-V 5 -t plain/topic -m hello -r -q 1").await?;
    assert!(published.status.success(), "{published:?}");
    let received = mosquitto_sub(broker.address(), "-V 5 -t plain/topic -C 1").await?;
    assert_eq!(received.stdout, b"hello\n");

    // The relay may still have the DISCONNECT before it.
    for _ in 0..200 {
        if wire.bytes(Direction::ToBroker).ends_with(&[0xe0, 0]) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let pcap = broker.folder().join("plain.pcap");
    wire.write_pcap(&pcap).await?;
    let packets = tshark(&pcap, "-T fields -e mqtt.msgtype -Y mqtt").await?;
    assert_eq!(
        packets.split_whitespace().collect::<Vec<_>>(),
        ["1", "2", "3", "4", "14"]
    );
    let sent = wire.bytes(Direction::ToBroker);
    assert!(sent.windows(11).any(|window| window == b"plain/topic"));
    Ok(())
}
