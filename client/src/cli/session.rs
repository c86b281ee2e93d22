//! An MQTT session of `pub` and `sub`: rumqttc, in either protocol level, behind one small interface.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use kemqtt_client::rumqttc::{Attached, v4, v5};
use rumqttc::v5 as mqtt5;
use rumqttc::{self as mqtt4};

use super::connection::Connection;
use super::{Failure, explained};

/// Who the MQTT client is.
#[derive(Debug, Args)]
#[command(next_help_heading = "MQTT session")]
pub(super) struct SessionArguments {
    /// MQTT client identifier; empty lets the broker choose (the device's id with enrolled devices).
    #[arg(short = 'i', long, default_value = "", value_name = "CLIENT-ID")]
    id: String,
    /// MQTT protocol level, for brokers that have only one of them.
    #[arg(short = 'V', long, value_enum, default_value_t = Level::V5, value_name = "VERSION")]
    mqtt_version: Level,
    /// User name, for anonymous connections.
    #[arg(short = 'u', long, env = "KEMQTT_USER", value_name = "NAME")]
    user: Option<String>,
    /// File whose first line is the password.
    #[arg(long, env = "KEMQTT_PASSWORD_FILE", requires = "user", value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Seconds between pings on an idle connection.
    #[arg(short = 'k', long, default_value_t = 60, value_parser = clap::value_parser!(u16).range(5..), value_name = "SECONDS")]
    keep_alive: u16,
    /// Topic of the message the broker publishes if this client vanishes.
    #[arg(long, value_name = "TOPIC")]
    will_topic: Option<String>,
    /// Its payload.
    #[arg(long, default_value = "", requires = "will_topic", value_name = "TEXT")]
    will_payload: String,
    /// Its QoS.
    #[arg(long, default_value_t = 0, requires = "will_topic", value_parser = clap::value_parser!(u8).range(0..=2), value_name = "QOS")]
    will_qos: u8,
    /// Have the broker retain it.
    #[arg(long, requires = "will_topic")]
    will_retain: bool,
    /// Keep trying, with growing pauses of up to ten minutes, if the first connection fails.
    #[arg(long)]
    retry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    #[value(name = "5", alias = "5.0")]
    V5,
    #[value(name = "3.1.1", aliases = ["3", "4", "311"])]
    V311,
}

/// A message to send or one that arrived.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) qos: u8,
    pub(super) retain: bool,
}

/// What a session reports.
#[derive(Debug)]
pub(super) enum Event {
    /// The session is up; `resumed` if the broker remembered it.
    Connected { resumed: bool },
    /// A message arrived.
    Message(Message),
    /// A message left (QoS 0) or was acknowledged (QoS 1 and 2); the name of the refusal, if it was one.
    Published(Result<(), String>),
    /// A subscription was answered.
    Subscribed(Result<(), String>),
    /// The session is over, by our wish.
    Disconnected,
}

/// Sends requests; clones share one session.
#[derive(Clone)]
pub(super) enum Sender {
    V4(mqtt4::AsyncClient),
    V5(mqtt5::AsyncClient),
}

/// A session and its bridge to the broker.
pub(super) struct Session {
    events: Events,
    sender: Sender,
    attached: Attached,
    connected: bool,
    retry: bool,
}

enum Events {
    V4(Box<mqtt4::EventLoop>),
    V5(Box<mqtt5::EventLoop>),
}

impl Session {
    /// Prepares a session; [`Session::next`] connects.
    pub(super) async fn open(connection: &Connection, arguments: &SessionArguments) -> anyhow::Result<Self> {
        let config = connection.config()?;
        let (address, id) = (connection.address(), arguments.id.as_str());
        let keep_alive = Duration::from_secs(arguments.keep_alive.into());
        let login = arguments.login()?;
        let (events, sender, attached) = match arguments.mqtt_version {
            Level::V5 => {
                let (mut options, attached) = v5::options(id, &address, config).await?;
                options
                    .set_keep_alive(keep_alive)
                    .set_max_packet_size(Some(MAX_PACKET_LEN as u32));
                options.set_connection_timeout(CONNECT_TIMEOUT_S);
                if let Some((user, password)) = login {
                    options.set_credentials(user, password);
                }
                if let Some(topic) = &arguments.will_topic {
                    let payload = arguments.will_payload.clone();
                    let qos = qos5(arguments.will_qos);
                    options.set_last_will(mqtt5::mqttbytes::v5::LastWill::new(
                        topic,
                        payload,
                        qos,
                        arguments.will_retain,
                        None,
                    ));
                }
                let (client, events) = mqtt5::AsyncClient::new(options, QUEUE);
                (Events::V5(Box::new(events)), Sender::V5(client), attached)
            }
            Level::V311 => {
                let (mut options, attached) = v4::options(id, &address, config).await?;
                options
                    .set_keep_alive(keep_alive)
                    .set_max_packet_size(MAX_PACKET_LEN, MAX_PACKET_LEN);
                if let Some((user, password)) = login {
                    options.set_credentials(user, password);
                }
                if let Some(topic) = &arguments.will_topic {
                    let payload = arguments.will_payload.clone();
                    let qos = qos4(arguments.will_qos);
                    options.set_last_will(mqtt4::LastWill::new(topic, payload, qos, arguments.will_retain));
                }
                let (client, mut events) = mqtt4::AsyncClient::new(options, QUEUE);
                events.network_options.set_connection_timeout(CONNECT_TIMEOUT_S);
                (Events::V4(Box::new(events)), Sender::V4(client), attached)
            }
        };
        Ok(Self {
            events,
            sender,
            attached,
            connected: false,
            retry: arguments.retry,
        })
    }

    /// A handle that sends on this session.
    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Waits for the next event. Reconnects after a loss; fails if the first connection fails, unless told to retry.
    pub(super) async fn next(&mut self) -> anyhow::Result<Event> {
        loop {
            let polled = match &mut self.events {
                Events::V4(events) => events.poll().await.map(from4).map_err(error4),
                Events::V5(events) => events.poll().await.map(from5).map_err(error5),
            };
            match polled {
                Ok(None) => {}
                Ok(Some(event)) => {
                    self.connected |= matches!(event, Event::Connected { .. });
                    return Ok(event);
                }
                Err(error) => {
                    // What the bridge saw says more than the refusal that rumqttc was given for it, and is known once
                    // the connection between the two is over.
                    let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.attached.idle()).await;
                    let error = self.attached.take_error().map_or(error, anyhow::Error::from);
                    if !self.connected && !self.retry {
                        return Err(error.context("cannot connect"));
                    }
                    eprintln!("kemqtt: {}; reconnecting", explained(&error));
                }
            }
        }
    }

    /// Says goodbye to the broker and waits until the last byte is on its way.
    pub(super) async fn close(mut self) -> anyhow::Result<()> {
        self.sender.disconnect().await?;
        let goodbye = async { while !matches!(self.next().await, Ok(Event::Disconnected) | Err(_)) {} };
        tokio::time::timeout(CLOSE_TIMEOUT, goodbye)
            .await
            .context("the broker did not take the goodbye")?;
        // Dropping the event loop closes rumqttc's end; the bridge then drains and closes the other.
        drop(self.events);
        let drained = tokio::time::timeout(CLOSE_TIMEOUT, self.attached.idle());
        drained.await.context("the connection did not close")
    }
}

impl Sender {
    /// Queues one message.
    pub(super) async fn publish(&self, message: Message) -> anyhow::Result<()> {
        let Message {
            topic,
            payload,
            qos,
            retain,
        } = message;
        match self {
            Self::V4(client) => client.publish(topic, qos4(qos), retain, payload).await?,
            Self::V5(client) => client.publish(topic, qos5(qos), retain, payload).await?,
        }
        Ok(())
    }

    /// Queues one subscription.
    pub(super) async fn subscribe(&self, filter: &str, qos: u8) -> anyhow::Result<()> {
        match self {
            Self::V4(client) => client.subscribe(filter, qos4(qos)).await?,
            Self::V5(client) => client.subscribe(filter, qos5(qos)).await?,
        }
        Ok(())
    }

    async fn disconnect(&self) -> anyhow::Result<()> {
        match self {
            Self::V4(client) => client.disconnect().await?,
            Self::V5(client) => client.disconnect().await?,
        }
        Ok(())
    }
}

impl SessionArguments {
    fn login(&self) -> anyhow::Result<Option<(String, String)>> {
        let Some(user) = self.user.clone() else { return Ok(None) };
        let Some(path) = &self.password_file else {
            return Ok(Some((user, String::new())));
        };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let Some(password) = text.lines().next().filter(|line| !line.is_empty()) else {
            bail!("{} has no password in its first line", path.display())
        };
        Ok(Some((user, password.to_owned())))
    }
}

fn from4(event: mqtt4::Event) -> Option<Event> {
    use mqtt4::{Packet, SubscribeReasonCode};
    Some(match event {
        mqtt4::Event::Incoming(Packet::ConnAck(connack)) => Event::Connected {
            resumed: connack.session_present,
        },
        mqtt4::Event::Incoming(Packet::Publish(publish)) => Event::Message(Message {
            topic: publish.topic,
            payload: publish.payload.to_vec(),
            qos: publish.qos as u8,
            retain: publish.retain,
        }),
        mqtt4::Event::Incoming(Packet::PubAck(_) | Packet::PubComp(_))
        | mqtt4::Event::Outgoing(mqtt4::Outgoing::Publish(0)) => Event::Published(Ok(())),
        mqtt4::Event::Incoming(Packet::SubAck(suback)) => {
            let refused = suback.return_codes.contains(&SubscribeReasonCode::Failure);
            Event::Subscribed(if refused {
                Err("not authorized, or invalid".into())
            } else {
                Ok(())
            })
        }
        mqtt4::Event::Outgoing(mqtt4::Outgoing::Disconnect) => Event::Disconnected,
        _ => return None,
    })
}

fn from5(event: mqtt5::Event) -> Option<Event> {
    use mqtt5::mqttbytes::v5::{Packet, PubAckReason, PubCompReason, SubscribeReasonCode};
    Some(match event {
        mqtt5::Event::Incoming(Packet::ConnAck(connack)) => Event::Connected {
            resumed: connack.session_present,
        },
        mqtt5::Event::Incoming(Packet::Publish(publish)) => Event::Message(Message {
            topic: String::from_utf8_lossy(&publish.topic).into_owned(),
            payload: publish.payload.to_vec(),
            qos: publish.qos as u8,
            retain: publish.retain,
        }),
        mqtt5::Event::Outgoing(mqtt4::Outgoing::Publish(0)) => Event::Published(Ok(())),
        mqtt5::Event::Incoming(Packet::PubAck(ack)) => Event::Published(match ack.reason {
            PubAckReason::Success | PubAckReason::NoMatchingSubscribers => Ok(()),
            reason => Err(format!("{reason:?}")),
        }),
        mqtt5::Event::Incoming(Packet::PubComp(comp)) => Event::Published(match comp.reason {
            PubCompReason::Success => Ok(()),
            reason => Err(format!("{reason:?}")),
        }),
        mqtt5::Event::Incoming(Packet::SubAck(suback)) => {
            let refusal = suback
                .return_codes
                .iter()
                .find(|code| !matches!(code, SubscribeReasonCode::Success(_)));
            Event::Subscribed(refusal.map_or(Ok(()), |code| Err(format!("{code:?}"))))
        }
        mqtt5::Event::Outgoing(mqtt4::Outgoing::Disconnect) => Event::Disconnected,
        _ => return None,
    })
}

fn error4(error: mqtt4::ConnectionError) -> anyhow::Error {
    match error {
        mqtt4::ConnectionError::ConnectionRefused(code) => {
            use mqtt4::ConnectReturnCode::{BadClientId, NotAuthorized, ServiceUnavailable};
            let hint = match code {
                BadClientId => CLIENT_ID_HINT,
                ServiceUnavailable => BACK_END_HINT,
                NotAuthorized => AUTHORISATION_HINT,
                _ => "",
            };
            Failure::Refused(format!("the session: {code:?}{hint}")).into()
        }
        error => error.into(),
    }
}

fn error5(error: mqtt5::ConnectionError) -> anyhow::Error {
    match error {
        mqtt5::ConnectionError::ConnectionRefused(code) => {
            use mqtt5::mqttbytes::v5::ConnectReturnCode::{ClientIdentifierNotValid, NotAuthorized, ServerUnavailable};
            let hint = match code {
                ClientIdentifierNotValid => CLIENT_ID_HINT,
                ServerUnavailable => BACK_END_HINT,
                NotAuthorized => AUTHORISATION_HINT,
                _ => "",
            };
            Failure::Refused(format!("the session: {code:?}{hint}")).into()
        }
        error => error.into(),
    }
}

const BACK_END_HINT: &str = "; the broker behind the gateway is down, try again later";
const AUTHORISATION_HINT: &str = "; the device is revoked, or its suite or login is not allowed there";
const CLIENT_ID_HINT: &str = "; without --id the broker takes the device's own, other names need its consent";

fn qos4(qos: u8) -> mqtt4::QoS {
    match qos {
        0 => mqtt4::QoS::AtMostOnce,
        1 => mqtt4::QoS::AtLeastOnce,
        _ => mqtt4::QoS::ExactlyOnce,
    }
}

fn qos5(qos: u8) -> mqtt5::mqttbytes::QoS {
    match qos {
        0 => mqtt5::mqttbytes::QoS::AtMostOnce,
        1 => mqtt5::mqttbytes::QoS::AtLeastOnce,
        _ => mqtt5::mqttbytes::QoS::ExactlyOnce,
    }
}

/// Requests that wait for the event loop; more than the usual in-flight window helps nobody.
const QUEUE: usize = 64;
/// The largest packet MQTT can express.
const MAX_PACKET_LEN: usize = 268_435_455 + 5;
/// The bridge keeps its own, shorter time limits per step; this only bounds a wait for the back-off.
const CONNECT_TIMEOUT_S: u64 = 3600;
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
