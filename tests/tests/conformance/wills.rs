//! Wills: when they are published, and how.

use std::time::Duration;

use anyhow::Result;
use rumqttc::v5::mqttbytes::{
    QoS,
    v5::{DisconnectReasonCode, LastWill, LastWillProperties, Packet, Publish},
};
use tokio::time::{sleep, timeout};

use crate::{
    behaviour::{Behaviour, show, show_all},
    relay::Relay,
    session::{Options, Session, World},
    site::{Engine, Site, Way},
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new("will: connection lost", PUBLISHED, lost),
        Behaviour::new("will: keep alive over", PUBLISHED, silent),
        Behaviour::new("will: protocol error", PUBLISHED, protocol_error),
        Behaviour::new("will: clean DISCONNECT", "[]", clean),
        Behaviour::new("will: DISCONNECT with will", PUBLISHED, with_will),
        Behaviour::new("will: taken over", PUBLISHED, taken_over),
        Behaviour::new("will: retained", "w=gone@1 retained", retained),
        Behaviour::new("will: properties", r#"Some("text/plain"), [("k", "v")]"#, properties),
        Behaviour::new("will: delay", "[] then w=gone@1", delay),
        Behaviour::new("will: back within the delay", "[]", back_in_time),
        Behaviour::new("will: session ends before the delay", PUBLISHED, session_ends_first),
    ]
}

/// What a broker does about a will when a record does not open: the same as for a lost connection.
pub(crate) async fn after_a_changed_record(engine: Engine) -> Result<String> {
    let site = Site::start(engine).await?;
    let world = World::new(site.clone(), Way::Secure, "x").await?;
    let mut watcher = watcher(&world).await?;
    let relay = Relay::start(world.address()).await?;
    let behind = World::new(site, Way::Secure, "x").await?.through(relay.address());
    let mut client = behind.connect_as("c", Options::will(will(&world))).await?;
    client.ping().await?;
    relay.change_the_next_byte();
    let publish = Publish::new(world.topic("w"), QoS::AtMostOnce, "forged".to_owned(), None);
    client.send(Packet::Publish(publish)).await?;
    let end = client.ended().await?;
    Ok(format!("{end}, {}", show_all(&world, &watcher.within(A_WHILE).await?)))
}

async fn lost(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    drop(client(&world).await?);
    Ok(show(&world, &watcher.message().await?))
}

async fn silent(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    let mut options = Options::will(will(&world));
    options.keep_alive = 1;
    let _silent = world.connect_as("c", options).await?;
    Ok(show(&world, &watcher.message().await?))
}

async fn protocol_error(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    let mut client = client(&world).await?;
    client.send_raw(b"\x36\x07\x00\x01t\x00\x05\x00m").await?;
    Ok(show(&world, &watcher.message().await?))
}

async fn clean(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    client(&world).await?.leave().await?;
    Ok(show_all(&world, &watcher.within(A_WHILE).await?))
}

async fn with_will(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    client(&world)
        .await?
        .leave_as(DisconnectReasonCode::DisconnectWithWillMessage, None)
        .await?;
    Ok(show(&world, &watcher.message().await?))
}

async fn taken_over(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    let _first = client(&world).await?;
    let _second = world.connect("c").await?;
    Ok(show(&world, &watcher.message().await?))
}

async fn retained(world: World) -> Result<String> {
    let mut early = watcher(&world).await?;
    let mut will = will(&world);
    will.retain = true;
    drop(world.connect_as("c", Options::will(will)).await?);
    early.message().await?;
    let mut late = world.connect("late").await?;
    late.subscribe(&world.topic("w"), QoS::AtLeastOnce).await?;
    Ok(show(&world, &late.message().await?))
}

async fn properties(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    let mut will = will(&world);
    will.properties = Some(LastWillProperties {
        content_type: Some("text/plain".to_owned()),
        user_properties: vec![("k".to_owned(), "v".to_owned())],
        ..no_properties()
    });
    drop(world.connect_as("c", Options::will(will)).await?);
    let got = watcher.message().await?.properties.unwrap_or_default();
    Ok(format!("{:?}, {:?}", got.content_type, got.user_properties))
}

async fn delay(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    drop(delayed(&world, 3, 60).await?);
    let early = show_all(&world, &watcher.within(Duration::from_millis(1_500)).await?);
    Ok(format!("{early} then {}", show(&world, &watcher.message().await?)))
}

async fn back_in_time(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    drop(delayed(&world, 4, 60).await?);
    let _back = world.connect_as("c", Options::resume(60)).await?;
    Ok(show_all(&world, &watcher.within(Duration::from_secs(6)).await?))
}

async fn session_ends_first(world: World) -> Result<String> {
    let mut watcher = watcher(&world).await?;
    drop(delayed(&world, 600, 1).await?);
    // Keeps the watcher's own connection alive while brokers that look at the clock now and then do so.
    for _ in 0..8 {
        if let Ok(message) = timeout(Duration::from_secs(1), watcher.message()).await {
            return Ok(show(&world, &message?));
        }
    }
    Ok("[]".to_owned())
}

/// A client that sees the wills of its corner.
async fn watcher(world: &World) -> Result<Session> {
    let mut watcher = world.connect("w").await?;
    watcher.subscribe(&world.topic("w"), QoS::AtLeastOnce).await?;
    Ok(watcher)
}

/// A client with a will.
async fn client(world: &World) -> Result<Session> {
    let session = world.connect_as("c", Options::will(will(world))).await?;
    // Some brokers take the will in only after they have answered.
    sleep(Duration::from_millis(100)).await;
    Ok(session)
}

/// A client with a will that waits, and a session that stays for `expiry` seconds.
async fn delayed(world: &World, delay: u32, expiry: u32) -> Result<Session> {
    let mut will = will(world);
    will.properties = Some(LastWillProperties {
        delay_interval: Some(delay),
        ..no_properties()
    });
    let options = Options {
        will: Some(will),
        ..Options::expiry(expiry)
    };
    world.connect_as("c", options).await
}

fn will(world: &World) -> LastWill {
    LastWill::new(world.topic("w"), "gone", QoS::AtLeastOnce, false, None)
}

fn no_properties() -> LastWillProperties {
    LastWillProperties {
        delay_interval: None,
        payload_format_indicator: None,
        message_expiry_interval: None,
        content_type: None,
        response_topic: None,
        correlation_data: None,
        user_properties: Vec::new(),
    }
}

const PUBLISHED: &str = "w=gone@1";

/// Long enough for a will that should not come.
const A_WHILE: Duration = Duration::from_secs(2);
