//! A client that says exactly what a script tells it to, over either way.

use std::{collections::VecDeque, io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf, BytesMut};
use kemqtt_client::SecureStream;
use rumqttc::v5::mqttbytes::{
    Error as CodecError, QoS,
    v5::{
        ConnAck, Connect, ConnectProperties, Disconnect, DisconnectProperties, DisconnectReasonCode, Filter, LastWill,
        Packet, PingReq, PubAck, PubComp, PubRec, PubRel, Publish, PublishProperties, Subscribe, SubscribeProperties,
        Unsubscribe,
    },
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::site::{Site, Way};

/// A behaviour's own corner of a site: nobody else has its client ids and topics.
pub(crate) struct World {
    pub(crate) site: Arc<Site>,
    pub(crate) way: Way,
    address: SocketAddr,
    name: String,
}

impl World {
    /// A corner of this name (letters and digits).
    pub(crate) async fn new(site: Arc<Site>, way: Way, name: &str) -> Result<Self> {
        let (address, mark) = match way {
            Way::Direct => (site.plain().await?, 'd'),
            Way::Secure => (site.front(), 's'),
        };
        Ok(Self {
            site,
            way,
            address,
            name: format!("{mark}{name}"),
        })
    }

    /// Another address for new connections, such as a relay's.
    pub(crate) fn through(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// Where its clients connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A topic of this corner.
    pub(crate) fn topic(&self, rest: &str) -> String {
        format!("{}/{rest}", self.name)
    }

    /// The inverse of [`topic`](Self::topic), for verdicts that do not depend on the way.
    pub(crate) fn local<'a>(&self, topic: &'a str) -> &'a str {
        topic
            .strip_prefix(&self.name)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(topic)
    }

    /// A client with a clean start and no session to keep.
    pub(crate) async fn connect(&self, name: &str) -> Result<Session> {
        self.connect_as(name, Options::default()).await
    }

    /// A client with these options; an answer other than success is an error.
    pub(crate) async fn connect_as(&self, name: &str, options: Options) -> Result<Session> {
        let session = self.try_connect(name, options).await?;
        ensure!(
            session.connack.code == rumqttc::v5::mqttbytes::v5::ConnectReturnCode::Success,
            "refused: {:?}",
            session.connack.code
        );
        Ok(session)
    }

    /// A client with these options, whatever the answer.
    pub(crate) async fn try_connect(&self, name: &str, options: Options) -> Result<Session> {
        let client_id = format!("{}-{name}", self.name);
        let connect = Connect {
            keep_alive: options.keep_alive,
            client_id: client_id.clone(),
            clean_start: !options.resume,
            properties: Some(options.properties),
        };
        let mut bytes = BytesMut::new();
        Packet::Connect(connect, options.will, None)
            .write(&mut bytes, None)
            .map_err(codec)?;
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let (stream, received): (Box<dyn Stream>, BytesMut) = match self.way {
            Way::Direct => {
                let mut tcp = tcp;
                tcp.write_all(&bytes).await?;
                (Box::new(tcp), BytesMut::new())
            }
            Way::Secure => {
                let config = self.site.device(&client_id).await?;
                let (stream, connack) = SecureStream::connect(&config, tcp, &bytes).await?;
                (Box::new(stream), BytesMut::from(&connack[..]))
            }
        };
        let mut session = Session {
            stream,
            received,
            inbox: VecDeque::new(),
            next_id: 1,
            connack: no_connack(),
        };
        match session.wait_for("CONNACK").await? {
            Some(Packet::ConnAck(connack)) => session.connack = connack,
            other => bail!("instead of a CONNACK: {other:?}"),
        }
        Ok(session)
    }
}

/// What a CONNECT says.
pub(crate) struct Options {
    /// Ask for the old session (clean start 0).
    pub(crate) resume: bool,
    /// Seconds.
    pub(crate) keep_alive: u16,
    pub(crate) properties: ConnectProperties,
    pub(crate) will: Option<LastWill>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resume: false,
            keep_alive: 60,
            properties: ConnectProperties::new(),
            will: None,
        }
    }
}

impl Options {
    /// A session that stays for this many seconds.
    pub(crate) fn expiry(seconds: u32) -> Self {
        let mut options = Self::default();
        options.properties.session_expiry_interval = Some(seconds);
        options
    }

    /// The same, and the old one is wanted back.
    pub(crate) fn resume(seconds: u32) -> Self {
        Self {
            resume: true,
            ..Self::expiry(seconds)
        }
    }

    /// With a will.
    pub(crate) fn will(will: LastWill) -> Self {
        Self {
            will: Some(will),
            ..Self::default()
        }
    }
}

/// A connected client. Dropping it loses the connection without a DISCONNECT.
pub(crate) struct Session {
    stream: Box<dyn Stream>,
    received: BytesMut,
    /// Messages that came while something else was waited for.
    inbox: VecDeque<Publish>,
    next_id: u16,
    pub(crate) connack: ConnAck,
}

impl Session {
    /// Sends one packet.
    pub(crate) async fn send(&mut self, packet: Packet) -> Result<()> {
        let mut bytes = BytesMut::new();
        packet.write(&mut bytes, None).map_err(codec)?;
        self.send_raw(&bytes).await
    }

    /// Sends bytes that no codec would write.
    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await?;
        Ok(self.stream.flush().await?)
    }

    /// The next packet, or nothing if the broker closed.
    pub(crate) async fn next(&mut self) -> Result<Option<Packet>> {
        self.wait_for("packet").await
    }

    async fn wait_for(&mut self, what: &str) -> Result<Option<Packet>> {
        loop {
            if let Some(end) = short_disconnect(&mut self.received)? {
                return Ok(Some(Packet::Disconnect(end)));
            }
            match Packet::read(&mut self.received, None) {
                Ok(packet) => return Ok(Some(packet)),
                Err(CodecError::InsufficientBytes(_)) => {}
                Err(error) => return Err(codec(error)),
            }
            let read = self.stream.read_buf(&mut self.received);
            match timeout(WAIT, read).await.with_context(|| format!("no {what}"))? {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if is_loss(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Subscribes to one filter and gives the reason code.
    pub(crate) async fn subscribe(&mut self, filter: &str, qos: QoS) -> Result<String> {
        self.subscribe_as(Filter::new(filter, qos), None).await
    }

    /// Subscribes with options and an identifier, and gives the reason code.
    pub(crate) async fn subscribe_as(&mut self, filter: Filter, identifier: Option<usize>) -> Result<String> {
        let properties = identifier.map(|id| SubscribeProperties {
            id: Some(id),
            user_properties: Vec::new(),
        });
        let mut subscribe = Subscribe::new(filter, properties);
        subscribe.pkid = self.packet_id();
        self.send(Packet::Subscribe(subscribe)).await?;
        loop {
            match self.wait_for("SUBACK").await? {
                Some(Packet::SubAck(suback)) => return Ok(format!("{:?}", suback.return_codes[0])),
                Some(packet) => self.keep(packet)?,
                None => bail!("closed instead of a SUBACK"),
            }
        }
    }

    /// Unsubscribes and gives the reason code.
    pub(crate) async fn unsubscribe(&mut self, filter: &str) -> Result<String> {
        let mut unsubscribe = Unsubscribe::new(filter, None);
        unsubscribe.pkid = self.packet_id();
        self.send(Packet::Unsubscribe(unsubscribe)).await?;
        loop {
            match self.wait_for("UNSUBACK").await? {
                Some(Packet::UnsubAck(unsuback)) => return Ok(format!("{:?}", unsuback.reasons)),
                Some(packet) => self.keep(packet)?,
                None => bail!("closed instead of an UNSUBACK"),
            }
        }
    }

    /// Publishes and waits until the exchange is over; gives the reason code.
    pub(crate) async fn publish(&mut self, topic: &str, qos: QoS, payload: &str) -> Result<String> {
        self.publish_as(Publish::new(topic, qos, payload.to_owned(), None))
            .await
    }

    /// Publishes a retained message.
    pub(crate) async fn retain(&mut self, topic: &str, payload: &str) -> Result<String> {
        let mut publish = Publish::new(topic, QoS::AtLeastOnce, payload.to_owned(), None);
        publish.retain = true;
        self.publish_as(publish).await
    }

    /// Publishes with properties at QoS 1.
    pub(crate) async fn publish_with(
        &mut self,
        topic: &str,
        payload: &str,
        properties: PublishProperties,
    ) -> Result<String> {
        self.publish_as(Publish::new(
            topic,
            QoS::AtLeastOnce,
            payload.to_owned(),
            Some(properties),
        ))
        .await
    }

    /// Publishes this packet under the next identifier and waits until the exchange is over; gives the reason code.
    pub(crate) async fn publish_as(&mut self, mut publish: Publish) -> Result<String> {
        let qos = publish.qos;
        if qos != QoS::AtMostOnce {
            publish.pkid = self.packet_id();
        }
        let id = publish.pkid;
        self.send(Packet::Publish(publish)).await?;
        if qos == QoS::AtMostOnce {
            return Ok("sent".to_owned());
        }
        loop {
            match self.wait_for("acknowledgement").await? {
                Some(Packet::PubAck(ack)) if ack.pkid == id => return Ok(format!("{:?}", ack.reason)),
                Some(Packet::PubRec(ack)) if ack.pkid == id => {
                    self.send(Packet::PubRel(PubRel::new(id, None))).await?;
                }
                Some(Packet::PubComp(ack)) if ack.pkid == id => return Ok(format!("{:?}", ack.reason)),
                Some(Packet::Disconnect(end)) => return Ok(format!("DISCONNECT {:?}", end.reason_code)),
                Some(packet) => self.keep(packet)?,
                None => return Ok("closed".to_owned()),
            }
        }
    }

    /// The next message, acknowledged.
    pub(crate) async fn message(&mut self) -> Result<Publish> {
        let message = self.unacknowledged().await?;
        self.acknowledge(&message).await?;
        Ok(message)
    }

    /// The next message, not acknowledged yet.
    pub(crate) async fn unacknowledged(&mut self) -> Result<Publish> {
        loop {
            if let Some(message) = self.inbox.pop_front() {
                return Ok(message);
            }
            match self.wait_for("message").await? {
                Some(packet) => self.keep(packet)?,
                None => bail!("closed instead of a message"),
            }
        }
    }

    /// Whether a message came while something else was waited for.
    pub(crate) fn has_message(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Ends the receiver's side of a message's exchange.
    pub(crate) async fn acknowledge(&mut self, message: &Publish) -> Result<()> {
        match message.qos {
            QoS::AtMostOnce => Ok(()),
            QoS::AtLeastOnce => self.send(Packet::PubAck(PubAck::new(message.pkid, None))).await,
            QoS::ExactlyOnce => {
                self.send(Packet::PubRec(PubRec::new(message.pkid, None))).await?;
                loop {
                    match self.wait_for("PUBREL").await? {
                        Some(Packet::PubRel(release)) if release.pkid == message.pkid => break,
                        Some(packet) => self.keep(packet)?,
                        None => bail!("closed instead of a PUBREL"),
                    }
                }
                self.send(Packet::PubComp(PubComp::new(message.pkid, None))).await
            }
        }
    }

    /// What comes before a message with this payload (which arrives last): no clock decides that nothing came.
    pub(crate) async fn until(&mut self, last: &str) -> Result<Vec<Publish>> {
        let mut messages = Vec::new();
        loop {
            let message = self.message().await?;
            if message.payload == last.as_bytes() {
                return Ok(messages);
            }
            messages.push(message);
        }
    }

    /// Messages that come within this time.
    pub(crate) async fn within(&mut self, time: Duration) -> Result<Vec<Publish>> {
        let mut messages = Vec::new();
        let end = tokio::time::Instant::now() + time;
        while let Ok(message) = tokio::time::timeout_at(end, self.message()).await {
            messages.push(message?);
        }
        Ok(messages)
    }

    /// A PINGREQ and its answer: everything sent before has been dealt with.
    pub(crate) async fn ping(&mut self) -> Result<()> {
        self.send(Packet::PingReq(PingReq)).await?;
        loop {
            match self.wait_for("PINGRESP").await? {
                Some(Packet::PingResp(_)) => return Ok(()),
                Some(packet) => self.keep(packet)?,
                None => bail!("closed instead of a PINGRESP"),
            }
        }
    }

    /// How the broker ends the connection: the DISCONNECT's reason, or only a close.
    pub(crate) async fn ended(&mut self) -> Result<String> {
        loop {
            match self.wait_for("end").await? {
                Some(Packet::Disconnect(end)) => return Ok(format!("{:?}", end.reason_code)),
                Some(packet) => self.keep(packet)?,
                None => return Ok("closed".to_owned()),
            }
        }
    }

    /// Leaves with a DISCONNECT and waits until the broker has closed.
    pub(crate) async fn leave(self) -> Result<()> {
        self.leave_as(DisconnectReasonCode::NormalDisconnection, None).await
    }

    /// Leaves with this reason, and another session expiry if given.
    pub(crate) async fn leave_as(mut self, reason: DisconnectReasonCode, expiry: Option<u32>) -> Result<()> {
        let mut disconnect = Disconnect::new(reason);
        disconnect.properties = expiry.map(|seconds| DisconnectProperties {
            session_expiry_interval: Some(seconds),
            reason_string: None,
            user_properties: Vec::new(),
            server_reference: None,
        });
        self.send(Packet::Disconnect(disconnect)).await?;
        while self.next().await?.is_some() {}
        Ok(())
    }

    /// The next packet identifier.
    pub(crate) fn packet_id(&mut self) -> u16 {
        self.next_id += 1;
        self.next_id
    }

    /// A packet that was not waited for: messages are for later, an end is an error.
    fn keep(&mut self, packet: Packet) -> Result<()> {
        match packet {
            Packet::Publish(publish) => self.inbox.push_back(publish),
            Packet::Disconnect(end) => bail!("DISCONNECT {:?}", end.reason_code),
            _ => {}
        }
        Ok(())
    }
}

/// A byte stream of either way.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A DISCONNECT without properties, which may end behind its reason code; the codec wants more.
fn short_disconnect(received: &mut BytesMut) -> Result<Option<Disconnect>> {
    let [0xe0, 1, code, ..] = received[..] else {
        return Ok(None);
    };
    received.advance(3);
    Ok(Some(Disconnect::new(code.try_into().map_err(codec)?)))
}

fn no_connack() -> ConnAck {
    ConnAck {
        session_present: false,
        code: rumqttc::v5::mqttbytes::v5::ConnectReturnCode::UnspecifiedError,
        properties: None,
    }
}

fn codec(error: CodecError) -> anyhow::Error {
    anyhow::anyhow!("codec: {error:?}")
}

/// A close and a reset are the same to a client.
fn is_loss(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof
    )
}

/// For what has to come. Generous, since the machines that run these tests are small and busy; a bare rumqttd that does
/// not answer costs this much.
const WAIT: Duration = Duration::from_secs(10);
