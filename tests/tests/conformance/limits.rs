//! Flow control, sizes, keep alive, and what ends a connection.

use std::time::Duration;

use anyhow::Result;
use rumqttc::v5::mqttbytes::{
    QoS,
    v5::{ConnAckProperties, Filter, Publish},
};
use tokio::time::sleep;

use crate::{
    behaviour::{Behaviour, show_all},
    session::{Options, Session, World},
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new(
            "flow: never more than the receive maximum",
            "2 in flight, [t=0@1, t=1@1, t=2@1, t=3@1, t=4@1]",
            receive_maximum,
        ),
        Behaviour::new("flow: order at QoS 1", "in order", order),
        Behaviour::new("flow: order at QoS 2", "in order", order_exactly_once),
        Behaviour::new(
            "size: what is too large for the client is not sent",
            "[t=small@1]",
            too_large_for_client,
        ),
        Behaviour::new("size: 200 KB arrive whole", "200000 whole", large),
        Behaviour::new("keep alive: silence ends the connection", "ended", silence),
        Behaviour::new("keep alive: PINGREQ keeps it", "alive", pings),
        Behaviour::new("keep alive: 0 means never", "alive", no_keep_alive),
        Behaviour::new("CONNACK: what the broker can do", "all", abilities),
        Behaviour::new("error: second CONNECT", "ended", second_connect),
        Behaviour::new("error: wildcard in a topic name", "ended", wildcard_topic),
        Behaviour::new("error: QoS 3", "ended", reserved_qos),
        Behaviour::new("error: subscription with reserved bits", "ended", reserved_bits),
        Behaviour::new("error: no local on a shared subscription", "ended", no_local_shared),
    ]
}

async fn receive_maximum(world: World) -> Result<String> {
    let mut options = Options::default();
    options.properties.receive_maximum = Some(2);
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect_as("r", options).await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    for number in 0..5 {
        sender
            .publish(&world.topic("t"), QoS::AtLeastOnce, &number.to_string())
            .await?;
    }
    // Two have to come; more would be here soon.
    let mut waiting = vec![receiver.unacknowledged().await?, receiver.unacknowledged().await?];
    sleep(Duration::from_millis(500)).await;
    receiver.ping().await?;
    while receiver.has_message() {
        waiting.push(receiver.unacknowledged().await?);
    }
    let in_flight = waiting.len();
    for message in &waiting {
        receiver.acknowledge(message).await?;
    }
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    waiting.extend(receiver.until("end").await?);
    Ok(format!("{in_flight} in flight, {}", show_all(&world, &waiting)))
}

async fn order(world: World) -> Result<String> {
    in_order(world, QoS::AtLeastOnce).await
}

async fn order_exactly_once(world: World) -> Result<String> {
    in_order(world, QoS::ExactlyOnce).await
}

async fn in_order(world: World, qos: QoS) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), qos).await?;
    let numbers: Vec<_> = (0..30).map(|number: u32| number.to_string()).collect();
    for number in &numbers {
        sender.publish(&world.topic("t"), qos, number).await?;
    }
    sender.publish(&world.topic("t"), qos, "end").await?;
    let got = receiver.until("end").await?;
    let same = got
        .iter()
        .map(|message| &message.payload[..])
        .eq(numbers.iter().map(|number| number.as_bytes()));
    Ok(if same {
        "in order".to_owned()
    } else {
        show_all(&world, &got)
    })
}

async fn too_large_for_client(world: World) -> Result<String> {
    let mut options = Options::default();
    options.properties.max_packet_size = Some(100);
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect_as("r", options).await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    for payload in ["x".repeat(200), "small".to_owned(), "end".to_owned()] {
        sender.publish(&world.topic("t"), QoS::AtLeastOnce, &payload).await?;
    }
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn large(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    let payload: String = (0..200_000_u32).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, &payload).await?;
    let got = receiver.message().await?.payload;
    let whole = if got == payload.as_bytes() { "whole" } else { "changed" };
    Ok(format!("{} {whole}", got.len()))
}

async fn silence(world: World) -> Result<String> {
    let mut client = world.connect_as("c", keep_alive(1)).await?;
    client.ended().await?;
    Ok("ended".to_owned())
}

async fn pings(world: World) -> Result<String> {
    let mut client = world.connect_as("c", keep_alive(2)).await?;
    for _ in 0..6 {
        sleep(Duration::from_millis(800)).await;
        client.ping().await?;
    }
    Ok("alive".to_owned())
}

async fn no_keep_alive(world: World) -> Result<String> {
    let mut client = world.connect_as("c", keep_alive(0)).await?;
    sleep(Duration::from_secs(4)).await;
    client.ping().await?;
    Ok("alive".to_owned())
}

/// What is missing from a full broker. Maximum QoS, retain and the rest default to "yes" when they are not named.
async fn abilities(world: World) -> Result<String> {
    let properties = world.connect("c").await?.connack.properties;
    let missing: Vec<_> = properties.iter().flat_map(missing).collect();
    Ok(if missing.is_empty() {
        "all".to_owned()
    } else {
        format!("without {}", missing.join(", "))
    })
}

fn missing(properties: &ConnAckProperties) -> Vec<&'static str> {
    let no = |value: Option<u8>| value == Some(0);
    [
        (properties.max_qos.is_some_and(|qos| qos < 2), "QoS 2"),
        (no(properties.retain_available), "retain"),
        (no(properties.wildcard_subscription_available), "wildcards"),
        (
            no(properties.subscription_identifiers_available),
            "subscription identifiers",
        ),
        (no(properties.shared_subscription_available), "shared subscriptions"),
    ]
    .into_iter()
    .filter_map(|(absent, name)| absent.then_some(name))
    .collect()
}

async fn second_connect(world: World) -> Result<String> {
    let client = world.connect("c").await?;
    ends_at(client, b"\x10\x10\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x03abc").await
}

async fn wildcard_topic(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let publish = Publish::new(world.topic("+"), QoS::AtMostOnce, "m".to_owned(), None);
    client
        .send(rumqttc::v5::mqttbytes::v5::Packet::Publish(publish))
        .await?;
    client.ended().await?;
    Ok("ended".to_owned())
}

async fn reserved_qos(world: World) -> Result<String> {
    let client = world.connect("c").await?;
    ends_at(client, b"\x36\x07\x00\x01t\x00\x05\x00m").await
}

async fn reserved_bits(world: World) -> Result<String> {
    let client = world.connect("c").await?;
    ends_at(client, b"\x82\x07\x00\x05\x00\x00\x01t\xc1").await
}

async fn no_local_shared(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let mut filter = Filter::new(format!("$share/g/{}", world.topic("t")), QoS::AtLeastOnce);
    filter.nolocal = true;
    // Refused in the SUBACK is as good.
    match client.subscribe_as(filter, None).await {
        Ok(code) if code.starts_with("Success") => Ok(code),
        _ => Ok("ended".to_owned()),
    }
}

async fn ends_at(mut client: Session, bytes: &[u8]) -> Result<String> {
    client.send_raw(bytes).await?;
    client.ended().await?;
    Ok("ended".to_owned())
}

fn keep_alive(seconds: u16) -> Options {
    Options {
        keep_alive: seconds,
        ..Options::default()
    }
}
