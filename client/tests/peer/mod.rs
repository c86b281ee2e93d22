//! A broker built from the crate's own responder, and a wire in between that can do harm.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod mqtt;

use std::sync::Arc;

use hybrid_handshake::suite::{Group, KemId};
use kemqtt_client::responder::Realm;
use kemqtt_client::{Config, Credential, DeviceId, Error, Pins, SecureStream, SuiteId};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;

/// MQTT 5.0 CONNECT and CONNACK, client id `c`.
pub(crate) const CONNECT_5: &[u8] = b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x01c";
/// The answer with Assigned Client Identifier, to see that properties survive.
pub(crate) const CONNACK_5: &[u8] = b"\x20\x07\x00\x00\x04\x12\x00\x01x";
/// MQTT 3.1.1.
pub(crate) const CONNECT_4: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01c";
pub(crate) const CONNACK_4: &[u8] = b"\x20\x02\x01\x00";

/// A realm with one enrolled device.
pub(crate) struct Setup {
    pub(crate) realm: Arc<Realm>,
    pub(crate) device: Credential,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let mut realm = Realm::generate(KemId::MlKem768, Group::X25519).expect("key");
        let device = Credential::generate_psk(DeviceId::new("sensor-7").expect("id")).expect("psk");
        realm.enroll(&device);
        Self {
            realm: Arc::new(realm),
            device,
        }
    }

    pub(crate) fn pins(&self) -> Pins {
        Pins::from_text(self.realm.pin()).expect("pin")
    }

    /// The default suite, as the enrolled device.
    pub(crate) fn config(&self) -> Config {
        Config::new(self.pins(), self.device.clone())
    }

    /// A broker on the far end of a memory wire: answers the CONNECT with `connack`, then echoes until the client closes.
    /// Gives the near end and, in the end, what it saw.
    pub(crate) fn echo(&self, connack: &'static [u8]) -> (DuplexStream, JoinHandle<Result<Seen, Error>>) {
        let (near, far) = duplex(WIRE_LEN);
        let realm = self.realm.clone();
        (near, tokio::spawn(async move { echo(&realm, far, connack).await }))
    }
}

/// What a broker saw of a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) device: Option<DeviceId>,
    pub(crate) connect: Vec<u8>,
    pub(crate) echoed: usize,
}

pub(crate) async fn echo(realm: &Realm, transport: DuplexStream, connack: &[u8]) -> Result<Seen, Error> {
    let accepted = realm.accept(transport).await?;
    let (device, connect) = (accepted.device(), accepted.connect.clone());
    let stream = accepted.answer(connack).await?;
    let (mut reader, mut writer) = tokio::io::split(stream);
    let echoed = tokio::io::copy(&mut reader, &mut writer).await.unwrap_or(0) as usize;
    let _ = writer.shutdown().await;
    Ok(Seen {
        device,
        connect,
        echoed,
    })
}

/// Sends `data` and reads it back, both at once.
pub(crate) async fn round_trip(stream: SecureStream<DuplexStream>, data: &[u8]) -> SecureStream<DuplexStream> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut back = vec![0; data.len()];
    let send = async {
        writer.write_all(data).await.expect("writes");
        writer.flush().await.expect("flushes");
    };
    let receive = async { reader.read_exact(&mut back).await.expect("reads") };
    tokio::join!(send, receive);
    assert!(back == data, "{} bytes came back changed", data.len());
    reader.unsplit(writer)
}

/// Bytes that are not all alike.
pub(crate) fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

pub(crate) fn suite(name: &str) -> SuiteId {
    name.parse().expect(name)
}

const WIRE_LEN: usize = 64 * 1024;
