//! Sessions: what stays after a connection, for how long, and who takes it over.

use std::time::Duration;

use anyhow::Result;
use rumqttc::v5::mqttbytes::{
    QoS,
    v5::{DisconnectReasonCode, Packet, PubRel, Publish},
};
use tokio::time::sleep;

use crate::{
    behaviour::{Behaviour, show, show_all},
    session::{Options, World},
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new("session: clean start drops the old one", "present 0, []", clean_start),
        Behaviour::new(
            "session: subscriptions and messages stay",
            "present 1, [t=one@1, t=two@1]",
            stays,
        ),
        Behaviour::new(
            "session: without expiry it ends with the connection",
            "present 0",
            without_expiry,
        ),
        Behaviour::new("session: expiry", "at once 1, late 0", expiry),
        Behaviour::new(
            "session: DISCONNECT changes the expiry",
            "present 0",
            expiry_at_disconnect,
        ),
        Behaviour::new(
            "session: take-over",
            "first SessionTakenOver, present 1, t=after@1",
            take_over,
        ),
        Behaviour::new(
            "session: unacknowledged QoS 1 comes again",
            "t=m@1 then t=m@1 dup",
            redelivery,
        ),
        Behaviour::new("session: QoS 2 is delivered once", "[t=m@2]", exactly_once),
    ]
}

async fn clean_start(world: World) -> Result<String> {
    let topic = world.topic("t");
    let mut client = world.connect_as("c", Options::expiry(60)).await?;
    client.subscribe(&topic, QoS::AtLeastOnce).await?;
    client.leave().await?;
    let mut other = world.connect("p").await?;
    other.publish(&topic, QoS::AtLeastOnce, "old").await?;
    let mut client = world.connect_as("c", Options::expiry(60)).await?;
    other.publish(&topic, QoS::AtLeastOnce, "new").await?;
    let present = u8::from(client.connack.session_present);
    client.subscribe(&world.topic("end"), QoS::AtLeastOnce).await?;
    other.publish(&world.topic("end"), QoS::AtLeastOnce, "end").await?;
    Ok(format!(
        "present {present}, {}",
        show_all(&world, &client.until("end").await?)
    ))
}

async fn stays(world: World) -> Result<String> {
    let topic = world.topic("t");
    let mut client = world.connect_as("c", Options::expiry(60)).await?;
    client.subscribe(&topic, QoS::AtLeastOnce).await?;
    client.leave().await?;
    let mut other = world.connect("p").await?;
    for payload in ["one", "two"] {
        other.publish(&topic, QoS::AtLeastOnce, payload).await?;
    }
    let mut client = world.connect_as("c", Options::resume(60)).await?;
    let present = u8::from(client.connack.session_present);
    other.publish(&topic, QoS::AtLeastOnce, "end").await?;
    Ok(format!(
        "present {present}, {}",
        show_all(&world, &client.until("end").await?)
    ))
}

async fn without_expiry(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    client.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    client.leave().await?;
    let client = world.connect_as("c", Options::resume(60)).await?;
    Ok(format!("present {}", u8::from(client.connack.session_present)))
}

async fn expiry(world: World) -> Result<String> {
    let topic = world.topic("t");
    // The time of the last connection counts; a busy machine must not be too late for the second one.
    let mut client = world.connect_as("c", Options::expiry(60)).await?;
    client.subscribe(&topic, QoS::AtLeastOnce).await?;
    drop(client);
    let client = world.connect_as("c", Options::resume(2)).await?;
    let at_once = u8::from(client.connack.session_present);
    client.leave().await?;
    // Brokers look at the clock every second or so.
    sleep(Duration::from_secs(5)).await;
    let client = world.connect_as("c", Options::resume(2)).await?;
    let late = u8::from(client.connack.session_present);
    Ok(format!("at once {at_once}, late {late}"))
}

async fn expiry_at_disconnect(world: World) -> Result<String> {
    let client = world.connect_as("c", Options::expiry(60)).await?;
    client
        .leave_as(DisconnectReasonCode::NormalDisconnection, Some(0))
        .await?;
    let client = world.connect_as("c", Options::resume(60)).await?;
    Ok(format!("present {}", u8::from(client.connack.session_present)))
}

async fn take_over(world: World) -> Result<String> {
    let topic = world.topic("t");
    let mut first = world.connect_as("c", Options::expiry(60)).await?;
    first.subscribe(&topic, QoS::AtLeastOnce).await?;
    let mut second = world.connect_as("c", Options::resume(60)).await?;
    let end = first.ended().await?;
    let mut other = world.connect("p").await?;
    other.publish(&topic, QoS::AtLeastOnce, "after").await?;
    let message = show(&world, &second.message().await?);
    let present = u8::from(second.connack.session_present);
    Ok(format!("first {end}, present {present}, {message}"))
}

async fn redelivery(world: World) -> Result<String> {
    let topic = world.topic("t");
    let mut client = world.connect_as("c", Options::expiry(60)).await?;
    client.subscribe(&topic, QoS::AtLeastOnce).await?;
    let mut other = world.connect("p").await?;
    other.publish(&topic, QoS::AtLeastOnce, "m").await?;
    let first = show(&world, &client.unacknowledged().await?);
    drop(client);
    let mut client = world.connect_as("c", Options::resume(60)).await?;
    let again = show(&world, &client.message().await?);
    Ok(format!("{first} then {again}"))
}

async fn exactly_once(world: World) -> Result<String> {
    let topic = world.topic("t");
    let mut receiver = world.connect("r").await?;
    receiver.subscribe(&topic, QoS::ExactlyOnce).await?;
    let mut sender = world.connect_as("s", Options::expiry(60)).await?;
    let mut publish = Publish::new(topic.as_str(), QoS::ExactlyOnce, "m".to_owned(), None);
    publish.pkid = sender.packet_id();
    let id = publish.pkid;
    sender.send(Packet::Publish(publish.clone())).await?;
    while !matches!(sender.next().await?, Some(Packet::PubRec(_)) | None) {}
    drop(sender);
    // The PUBREC was lost as far as the sender knows: it sends the message again, and then goes on.
    let mut sender = world.connect_as("s", Options::resume(60)).await?;
    publish.dup = true;
    sender.send(Packet::Publish(publish)).await?;
    while !matches!(sender.next().await?, Some(Packet::PubRec(_)) | None) {}
    sender.send(Packet::PubRel(PubRel::new(id, None))).await?;
    while !matches!(sender.next().await?, Some(Packet::PubComp(_)) | None) {}
    sender.publish(&topic, QoS::ExactlyOnce, "end").await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}
