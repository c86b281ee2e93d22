//! Subscription options and identifiers, filters, shared subscriptions.

use std::time::Duration;

use anyhow::Result;
use rumqttc::v5::mqttbytes::{QoS, v5::Filter};

use crate::{
    behaviour::{Behaviour, show_all},
    session::World,
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new("subscription: wildcards", "[a/b=1@1, a/c=2@1, a/b/d=3@1]", wildcards),
        Behaviour::new(
            "subscription: reason codes",
            "Success(AtMostOnce), Success(AtLeastOnce), Success(ExactlyOnce)",
            reason_codes,
        ),
        Behaviour::new("subscription: the lower QoS counts", "[t=0@0, t=1@1, t=2@1]", lower_qos),
        Behaviour::new("subscription: no local", "[t=theirs@1]", no_local),
        Behaviour::new("subscription: identifiers", "t [7], u [9]", identifiers),
        Behaviour::new("subscription: a new one replaces the old", "[t=m@0]", replaced),
        Behaviour::new("subscription: unsubscribe", "[Success], []", unsubscribe),
        Behaviour::new(
            "subscription: unsubscribe of nothing",
            "[NoSubscriptionExisted]",
            unsubscribe_nothing,
        ),
        Behaviour::new("subscription: overlapping ones lose nothing", "yes", overlapping),
        Behaviour::new(
            "shared: each message to one member",
            "10 to both, none twice, both had some",
            shared,
        ),
        Behaviour::new(
            "shared: goes on when a member leaves",
            "[0, 1, 2, 3]",
            shared_member_leaves,
        ),
        Behaviour::new("shared: groups are independent", "g1 1, g2 1, plain 1", groups),
    ]
}

async fn wildcards(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("a/+"), QoS::AtLeastOnce).await?;
    receiver.subscribe(&world.topic("a/b/#"), QoS::AtLeastOnce).await?;
    receiver.unsubscribe(&world.topic("a/b/#")).await?;
    receiver.subscribe(&world.topic("a/b/+"), QoS::AtLeastOnce).await?;
    for (topic, payload) in [("a/b", "1"), ("a/c", "2"), ("b", "x"), ("a/b/d", "3"), ("a/c/d", "x")] {
        sender.publish(&world.topic(topic), QoS::AtLeastOnce, payload).await?;
    }
    let mut messages = receiver.within(A_WHILE).await?;
    messages.sort_by(|a, b| a.payload.cmp(&b.payload));
    Ok(show_all(&world, &messages))
}

async fn reason_codes(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let mut codes = Vec::new();
    for (topic, qos) in [("a", QoS::AtMostOnce), ("b", QoS::AtLeastOnce), ("c", QoS::ExactlyOnce)] {
        codes.push(client.subscribe(&world.topic(topic), qos).await?);
    }
    Ok(codes.join(", "))
}

async fn lower_qos(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    for (payload, qos) in [
        ("0", QoS::AtMostOnce),
        ("1", QoS::AtLeastOnce),
        ("2", QoS::ExactlyOnce),
        ("end", QoS::AtLeastOnce),
    ] {
        sender.publish(&world.topic("t"), qos, payload).await?;
    }
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn no_local(world: World) -> Result<String> {
    let (mut client, mut other) = (world.connect("c").await?, world.connect("o").await?);
    let mut filter = Filter::new(world.topic("t"), QoS::AtLeastOnce);
    filter.nolocal = true;
    client.subscribe_as(filter, None).await?;
    client.publish(&world.topic("t"), QoS::AtLeastOnce, "mine").await?;
    other.publish(&world.topic("t"), QoS::AtLeastOnce, "theirs").await?;
    other.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    Ok(show_all(&world, &client.until("end").await?))
}

async fn identifiers(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    for (topic, id) in [("t", 7), ("u", 9)] {
        let filter = Filter::new(world.topic(topic), QoS::AtLeastOnce);
        receiver.subscribe_as(filter, Some(id)).await?;
    }
    let mut seen = Vec::new();
    for topic in ["t", "u"] {
        sender.publish(&world.topic(topic), QoS::AtLeastOnce, "m").await?;
        let message = receiver.message().await?;
        let ids = message.properties.unwrap_or_default().subscription_identifiers;
        seen.push(format!("{topic} {ids:?}"));
    }
    Ok(seen.join(", "))
}

async fn replaced(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    for qos in [QoS::ExactlyOnce, QoS::AtMostOnce] {
        receiver.subscribe(&world.topic("t"), qos).await?;
    }
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "m").await?;
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn unsubscribe(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    receiver.subscribe(&world.topic("end"), QoS::AtLeastOnce).await?;
    let code = receiver.unsubscribe(&world.topic("t")).await?;
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "m").await?;
    sender.publish(&world.topic("end"), QoS::AtLeastOnce, "end").await?;
    Ok(format!("{code}, {}", show_all(&world, &receiver.until("end").await?)))
}

async fn unsubscribe_nothing(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    client.unsubscribe(&world.topic("t")).await
}

/// Whether they bring one copy or one each is the broker's choice.
async fn overlapping(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("a/#"), QoS::AtLeastOnce).await?;
    receiver.subscribe(&world.topic("a/b"), QoS::AtLeastOnce).await?;
    sender.publish(&world.topic("a/b"), QoS::AtLeastOnce, "m").await?;
    sender.publish(&world.topic("a/end"), QoS::AtLeastOnce, "end").await?;
    let copies = receiver.until("end").await?.len();
    Ok(if (1..=2).contains(&copies) {
        "yes".to_owned()
    } else {
        format!("{copies} copies")
    })
}

async fn shared(world: World) -> Result<String> {
    let filter = format!("$share/g/{}", world.topic("t"));
    let (mut one, mut two) = (world.connect("1").await?, world.connect("2").await?);
    let mut sender = world.connect("s").await?;
    one.subscribe(&filter, QoS::AtLeastOnce).await?;
    two.subscribe(&filter, QoS::AtLeastOnce).await?;
    for number in 0..10 {
        sender
            .publish(&world.topic("t"), QoS::AtLeastOnce, &number.to_string())
            .await?;
    }
    let (one, two) = tokio::try_join!(one.within(A_WHILE), two.within(A_WHILE))?;
    let mut all: Vec<_> = one.iter().chain(&two).map(|message| message.payload.clone()).collect();
    let total = all.len();
    all.sort();
    all.dedup();
    let twice = if all.len() == total { "none twice" } else { "some twice" };
    let both = if one.is_empty() || two.is_empty() {
        "one had none"
    } else {
        "both had some"
    };
    Ok(format!("{total} to both, {twice}, {both}"))
}

async fn shared_member_leaves(world: World) -> Result<String> {
    let filter = format!("$share/g/{}", world.topic("t"));
    let (mut one, mut two) = (world.connect("1").await?, world.connect("2").await?);
    let mut sender = world.connect("s").await?;
    one.subscribe(&filter, QoS::AtLeastOnce).await?;
    two.subscribe(&filter, QoS::AtLeastOnce).await?;
    one.leave().await?;
    for number in 0..4 {
        sender
            .publish(&world.topic("t"), QoS::AtLeastOnce, &number.to_string())
            .await?;
    }
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    let got = two.until("end").await?;
    let numbers: Vec<_> = got
        .iter()
        .map(|message| String::from_utf8_lossy(&message.payload))
        .collect();
    Ok(format!("[{}]", numbers.join(", ")))
}

async fn groups(world: World) -> Result<String> {
    let mut sender = world.connect("s").await?;
    let mut members = Vec::new();
    for (name, filter) in [("g1", "$share/g1/"), ("g2", "$share/g2/"), ("plain", "")] {
        let mut member = world.connect(name).await?;
        member
            .subscribe(&format!("{filter}{}", world.topic("t")), QoS::AtLeastOnce)
            .await?;
        members.push((name, member));
    }
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "m").await?;
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    let mut counts = Vec::new();
    for (name, member) in &mut members {
        counts.push(format!("{name} {}", member.until("end").await?.len()));
    }
    Ok(counts.join(", "))
}

/// For messages whose order to others is nobody's promise.
const A_WHILE: Duration = Duration::from_secs(2);
