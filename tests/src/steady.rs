//! A client of MQTT 3.1.1 with a lasting session that reconnects for ever.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use kemqtt_client::{Config, rumqttc::v4::options};
use rumqttc::{AsyncClient, Event, Incoming, Outgoing, QoS};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
    time::{sleep, timeout},
};

/// What the client went through.
#[derive(Debug)]
pub enum Happened {
    /// Connected.
    Up,
    /// A PUBLISH with this packet id has gone out.
    Sent(u16),
    /// Its PUBACK.
    Acknowledged(u16),
    /// A SUBACK.
    Subscribed,
    /// A message.
    Received(String),
    /// Disconnected, or not let in, and why.
    Down(String),
}

/// A client with a lasting session, connected at first, and again whenever it is not.
pub struct Steady {
    /// Sends.
    pub handle: AsyncClient,
    happened: UnboundedReceiver<Happened>,
    task: JoinHandle<()>,
}

impl Steady {
    /// Connects.
    pub async fn start(id: &str, address: &str, config: Config) -> Result<Self> {
        let (mut options, bridge) = options(id, address, config).await?;
        options.set_keep_alive(Duration::from_secs(10)).set_clean_session(false);
        let (handle, mut events) = AsyncClient::new(options, 64);
        let (tell, happened) = unbounded_channel();
        let task = tokio::spawn(async move {
            let _bridge = bridge;
            loop {
                let news = match events.poll().await {
                    Ok(Event::Incoming(Incoming::ConnAck(_))) => Happened::Up,
                    Ok(Event::Incoming(Incoming::PubAck(ack))) => Happened::Acknowledged(ack.pkid),
                    Ok(Event::Incoming(Incoming::SubAck(_))) => Happened::Subscribed,
                    Ok(Event::Incoming(Incoming::Publish(publish))) => {
                        Happened::Received(String::from_utf8_lossy(&publish.payload).into_owned())
                    }
                    Ok(Event::Outgoing(Outgoing::Publish(id))) => Happened::Sent(id),
                    Ok(_) => continue,
                    Err(error) => {
                        sleep(Duration::from_millis(200)).await;
                        Happened::Down(format!("{error:?}"))
                    }
                };
                if tell.send(news).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { handle, happened, task };
        client.until(|news| matches!(news, Happened::Up)).await?;
        Ok(client)
    }

    /// Waits until what happens satisfies `done`.
    pub async fn until(&mut self, mut done: impl FnMut(&Happened) -> bool) -> Result<()> {
        loop {
            match timeout(PATIENCE, self.happened.recv()).await {
                Ok(Some(news)) if done(&news) => return Ok(()),
                Ok(Some(_)) => {}
                _ => bail!("waited {PATIENCE:?} for a packet"),
            }
        }
    }

    /// Subscribes at QoS 1 and waits for the SUBACK.
    pub async fn subscribe(&mut self, filter: &str) -> Result<()> {
        self.handle.subscribe(filter, QoS::AtLeastOnce).await?;
        self.until(|news| matches!(news, Happened::Subscribed)).await
    }

    /// Publishes a number until it is acknowledged.
    pub async fn publish(&mut self, topic: &str, number: usize) -> Result<()> {
        loop {
            self.handle
                .publish(topic, QoS::AtLeastOnce, false, number.to_string())
                .await?;
            let mut sent = None;
            loop {
                match timeout(PATIENCE, self.happened.recv()).await?.context("client ended")? {
                    Happened::Sent(id) => sent = Some(id),
                    Happened::Acknowledged(id) if sent == Some(id) => return Ok(()),
                    Happened::Down(_) => break,
                    _ => {}
                }
            }
        }
    }
}

impl Drop for Steady {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Clusters need some seconds to give up a node.
const PATIENCE: Duration = Duration::from_secs(60);
