//! Retained messages.

use std::time::Duration;

use anyhow::Result;
use rumqttc::v5::mqttbytes::{
    QoS,
    v5::{Filter, Publish, PublishProperties, RetainForwardRule},
};
use tokio::time::sleep;

use crate::{
    behaviour::{Behaviour, show_all},
    session::{Session, World},
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new(
            "retained: kept for later subscribers",
            "[r/a=one@1 retained, r/b=two@1 retained]",
            kept,
        ),
        Behaviour::new("retained: the last one counts", "[r/a=new@1 retained]", replaced),
        Behaviour::new("retained: an empty one removes it", "[]", removed),
        Behaviour::new("retained: not flagged to those already there", "[r/a=one@1]", live),
        Behaviour::new(
            "retained: flagged if so subscribed",
            "[r/a=one@1 retained]",
            as_published,
        ),
        Behaviour::new("retained: handling 0, with every subscription", "2", |world| {
            handling(world, RetainForwardRule::OnEverySubscribe)
        }),
        Behaviour::new("retained: handling 1, with a new one", "1", |world| {
            handling(world, RetainForwardRule::OnNewSubscribe)
        }),
        Behaviour::new("retained: handling 2, never", "0", |world| {
            handling(world, RetainForwardRule::Never)
        }),
        Behaviour::new("retained: expiry of the message", "[]", expires),
    ]
}

async fn kept(world: World) -> Result<String> {
    let mut sender = world.connect("s").await?;
    sender.retain(&world.topic("r/a"), "one").await?;
    sender.retain(&world.topic("r/b"), "two").await?;
    let mut receiver = world.connect("r").await?;
    let mut messages = after_subscribing(&world, &mut sender, &mut receiver).await?;
    messages.sort_by(|a, b| a.topic.cmp(&b.topic));
    Ok(show_all(&world, &messages))
}

async fn replaced(world: World) -> Result<String> {
    let mut sender = world.connect("s").await?;
    sender.retain(&world.topic("r/a"), "old").await?;
    sender.retain(&world.topic("r/a"), "new").await?;
    let mut receiver = world.connect("r").await?;
    Ok(show_all(
        &world,
        &after_subscribing(&world, &mut sender, &mut receiver).await?,
    ))
}

async fn removed(world: World) -> Result<String> {
    let mut sender = world.connect("s").await?;
    sender.retain(&world.topic("r/a"), "one").await?;
    sender.retain(&world.topic("r/a"), "").await?;
    let mut receiver = world.connect("r").await?;
    Ok(show_all(
        &world,
        &after_subscribing(&world, &mut sender, &mut receiver).await?,
    ))
}

async fn live(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("#"), QoS::AtLeastOnce).await?;
    sender.retain(&world.topic("r/a"), "one").await?;
    sender.publish(&world.topic("end"), QoS::AtLeastOnce, "end").await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn as_published(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    let mut filter = Filter::new(world.topic("#"), QoS::AtLeastOnce);
    filter.preserve_retain = true;
    receiver.subscribe_as(filter, None).await?;
    sender.retain(&world.topic("r/a"), "one").await?;
    sender.publish(&world.topic("end"), QoS::AtLeastOnce, "end").await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}

/// How often the retained message comes when one client subscribes twice.
async fn handling(world: World, rule: RetainForwardRule) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    sender.retain(&world.topic("r/a"), "one").await?;
    for _ in 0..2 {
        let mut filter = Filter::new(world.topic("r/#"), QoS::AtLeastOnce);
        filter.retain_forward_rule = rule.clone();
        receiver.subscribe_as(filter, None).await?;
    }
    sender.publish(&world.topic("r/end"), QoS::AtLeastOnce, "end").await?;
    Ok(receiver.until("end").await?.len().to_string())
}

async fn expires(world: World) -> Result<String> {
    let mut sender = world.connect("s").await?;
    let properties = PublishProperties {
        message_expiry_interval: Some(1),
        ..PublishProperties::default()
    };
    let mut publish = Publish::new(world.topic("r/a"), QoS::AtLeastOnce, "one".to_owned(), Some(properties));
    publish.retain = true;
    sender.publish_as(publish).await?;
    sleep(Duration::from_secs(3)).await;
    let mut receiver = world.connect("r").await?;
    Ok(show_all(
        &world,
        &after_subscribing(&world, &mut sender, &mut receiver).await?,
    ))
}

/// What a subscription to everything brings before the first new message.
async fn after_subscribing(world: &World, sender: &mut Session, receiver: &mut Session) -> Result<Vec<Publish>> {
    receiver.subscribe(&world.topic("#"), QoS::AtLeastOnce).await?;
    sender.publish(&world.topic("end"), QoS::AtLeastOnce, "end").await?;
    receiver.until("end").await
}
