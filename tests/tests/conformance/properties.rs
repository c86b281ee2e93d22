//! Properties that a broker passes on: user properties, request and response, content, expiry, topic aliases.

use std::time::Duration;

use anyhow::{Context, Result};
use rumqttc::v5::mqttbytes::{
    QoS,
    v5::{Packet, Publish, PublishProperties},
};
use tokio::time::sleep;

use crate::{
    behaviour::{Behaviour, show_all},
    session::{Options, World},
};

pub(crate) fn behaviours() -> Vec<Behaviour> {
    vec![
        Behaviour::new(
            "properties: user properties in order",
            r#"[("b", "1"), ("a", "2"), ("b", "3")]"#,
            user_properties,
        ),
        Behaviour::new(
            "properties: content type and payload format",
            r#"Some("text/plain"), Some(1)"#,
            content,
        ),
        Behaviour::new("properties: request and response", "answer to 42", request_response),
        Behaviour::new("properties: expiry counts down", "at most 58", expiry_counts_down),
        Behaviour::new("properties: an expired message is dropped", "[t=stays@1]", expired),
        Behaviour::new("alias: from the client", "[t=one@1, t=two@1, u=three@1]", alias),
        Behaviour::new("alias: over the broker's maximum", "TopicAliasInvalid", alias_too_high),
        Behaviour::new("alias: unknown", "ended", alias_unknown),
        Behaviour::new("alias: to the client", "[t=one, t=two]", alias_to_client),
        Behaviour::new(
            "alias: none to a client that allows none",
            "None, None",
            no_alias_to_client,
        ),
        Behaviour::new(
            "answer: no matching subscribers",
            "Success or NoMatchingSubscribers",
            no_subscribers,
        ),
    ]
}

async fn user_properties(world: World) -> Result<String> {
    let user = [("b", "1"), ("a", "2"), ("b", "3")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let sent = PublishProperties {
        user_properties: user.to_vec(),
        ..PublishProperties::default()
    };
    Ok(format!("{:?}", passed_on(&world, sent).await?.user_properties))
}

async fn content(world: World) -> Result<String> {
    let sent = PublishProperties {
        content_type: Some("text/plain".to_owned()),
        payload_format_indicator: Some(1),
        ..PublishProperties::default()
    };
    let got = passed_on(&world, sent).await?;
    Ok(format!("{:?}, {:?}", got.content_type, got.payload_format_indicator))
}

async fn request_response(world: World) -> Result<String> {
    let (mut asker, mut answerer) = (world.connect("a").await?, world.connect("b").await?);
    asker.subscribe(&world.topic("answers"), QoS::AtLeastOnce).await?;
    answerer.subscribe(&world.topic("questions"), QoS::AtLeastOnce).await?;
    let asked = PublishProperties {
        response_topic: Some(world.topic("answers")),
        correlation_data: Some("42".into()),
        ..PublishProperties::default()
    };
    asker.publish_with(&world.topic("questions"), "?", asked).await?;
    let request = answerer.message().await?.properties.context("no properties")?;
    let answered = PublishProperties {
        correlation_data: request.correlation_data,
        ..PublishProperties::default()
    };
    let topic = request.response_topic.context("no response topic")?;
    answerer.publish_with(&topic, "answer", answered).await?;
    let response = asker.message().await?;
    let correlation = response
        .properties
        .and_then(|p| p.correlation_data)
        .context("no correlation data")?;
    let (payload, correlation) = (
        String::from_utf8_lossy(&response.payload),
        String::from_utf8_lossy(&correlation),
    );
    Ok(format!("{payload} to {correlation}"))
}

async fn expiry_counts_down(world: World) -> Result<String> {
    let mut receiver = world.connect_as("r", Options::expiry(60)).await?;
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    receiver.leave().await?;
    let mut sender = world.connect("s").await?;
    sender.publish_with(&world.topic("t"), "m", lasting(60)).await?;
    sleep(Duration::from_millis(2_500)).await;
    let mut receiver = world.connect_as("r", Options::resume(60)).await?;
    let left = receiver
        .message()
        .await?
        .properties
        .and_then(|p| p.message_expiry_interval);
    Ok(match left {
        Some(seconds) if seconds <= 58 => "at most 58".to_owned(),
        other => format!("{other:?}"),
    })
}

async fn expired(world: World) -> Result<String> {
    let mut receiver = world.connect_as("r", Options::expiry(60)).await?;
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    receiver.leave().await?;
    let mut sender = world.connect("s").await?;
    sender.publish_with(&world.topic("t"), "goes", lasting(1)).await?;
    sender.publish_with(&world.topic("t"), "stays", lasting(600)).await?;
    sleep(Duration::from_secs(3)).await;
    let mut receiver = world.connect_as("r", Options::resume(60)).await?;
    sender.publish(&world.topic("t"), QoS::AtLeastOnce, "end").await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn alias(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("#"), QoS::AtLeastOnce).await?;
    for (topic, payload) in [("t", "one"), ("", "two"), ("u", "three")] {
        let topic = if topic.is_empty() {
            String::new()
        } else {
            world.topic(topic)
        };
        sender.publish_with(&topic, payload, aliased(1)).await?;
    }
    sender.publish_with("", "end", aliased(1)).await?;
    Ok(show_all(&world, &receiver.until("end").await?))
}

async fn alias_too_high(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let maximum = client.connack.properties.as_ref().and_then(|p| p.topic_alias_max);
    let over = maximum.unwrap_or(0).saturating_add(1);
    let publish = Publish::new(world.topic("t"), QoS::AtMostOnce, "m".to_owned(), Some(aliased(over)));
    client.send(Packet::Publish(publish)).await?;
    client.ended().await
}

async fn alias_unknown(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let publish = Publish::new("", QoS::AtMostOnce, "m".to_owned(), Some(aliased(1)));
    client.send(Packet::Publish(publish)).await?;
    client.ended().await?;
    Ok("ended".to_owned())
}

/// A broker need not use aliases; if it does, they have to resolve.
async fn alias_to_client(world: World) -> Result<String> {
    let mut options = Options::default();
    options.properties.topic_alias_max = Some(5);
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect_as("r", options).await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    let (mut known, mut seen) = (None, Vec::new());
    for payload in ["one", "two"] {
        sender.publish(&world.topic("t"), QoS::AtLeastOnce, payload).await?;
        let message = receiver.message().await?;
        let topic = String::from_utf8(message.topic.to_vec())?;
        let topic = if topic.is_empty() {
            known.clone().context("an alias that was never set")?
        } else {
            topic
        };
        seen.push(format!("{}={payload}", world.local(&topic)));
        known = Some(topic);
    }
    Ok(format!("[{}]", seen.join(", ")))
}

async fn no_alias_to_client(world: World) -> Result<String> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    let mut seen = Vec::new();
    for payload in ["one", "two"] {
        sender.publish(&world.topic("t"), QoS::AtLeastOnce, payload).await?;
        let alias = receiver.message().await?.properties.and_then(|p| p.topic_alias);
        seen.push(format!("{alias:?}"));
    }
    Ok(seen.join(", "))
}

async fn no_subscribers(world: World) -> Result<String> {
    let mut client = world.connect("c").await?;
    let code = client.publish(&world.topic("nobody"), QoS::AtLeastOnce, "m").await?;
    let allowed = ["Success", "NoMatchingSubscribers"].contains(&code.as_str());
    Ok(if allowed {
        "Success or NoMatchingSubscribers".to_owned()
    } else {
        code
    })
}

/// What arrives of these properties.
async fn passed_on(world: &World, properties: PublishProperties) -> Result<PublishProperties> {
    let (mut sender, mut receiver) = (world.connect("s").await?, world.connect("r").await?);
    receiver.subscribe(&world.topic("t"), QoS::AtLeastOnce).await?;
    sender.publish_with(&world.topic("t"), "m", properties).await?;
    Ok(receiver.message().await?.properties.unwrap_or_default())
}

fn lasting(seconds: u32) -> PublishProperties {
    PublishProperties {
        message_expiry_interval: Some(seconds),
        ..PublishProperties::default()
    }
}

fn aliased(alias: u16) -> PublishProperties {
    PublishProperties {
        topic_alias: Some(alias),
        ..PublishProperties::default()
    }
}
