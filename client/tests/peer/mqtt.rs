//! The smallest broker that pub and sub notice nothing of: every subscriber gets every message, at QoS 0.

use std::sync::Arc;

use hybrid_handshake::mqtt::{FixedHeader, PacketType, Reader};
use kemqtt_client::SecureStream;
use kemqtt_client::responder::Realm;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;

type Message = (Vec<u8>, Vec<u8>);

/// Listens on a free loopback port; gives `host:port`.
pub(crate) async fn listen(realm: Arc<Realm>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("address").to_string();
    let messages = broadcast::Sender::new(64);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accepts");
            tokio::spawn(connection(realm.clone(), stream, messages.clone()));
        }
    });
    address
}

async fn connection(realm: Arc<Realm>, stream: TcpStream, messages: broadcast::Sender<Message>) {
    let Ok(accepted) = realm.accept(stream).await else {
        return;
    };
    let is_v5 = accepted.connect[8] == 5;
    let connack: &[u8] = if is_v5 {
        b"\x20\x03\x00\x00\x00"
    } else {
        b"\x20\x02\x00\x00"
    };
    let stream = accepted.answer(connack).await.expect("answers");
    Session {
        stream,
        is_v5,
        subscribed: false,
        received: Vec::new(),
        messages,
    }
    .run()
    .await;
}

struct Session {
    stream: SecureStream<TcpStream>,
    is_v5: bool,
    subscribed: bool,
    received: Vec<u8>,
    messages: broadcast::Sender<Message>,
}

impl Session {
    async fn run(mut self) {
        let mut inbox = self.messages.subscribe();
        loop {
            tokio::select! {
                read = self.stream.read_buf(&mut self.received) => if !matches!(read, Ok(1..)) { return },
                message = inbox.recv() => if self.subscribed {
                    let packet = self.publish(&message.expect("message"));
                    self.send(&packet).await;
                },
            }
            while let Ok(Some(header)) = FixedHeader::read(&self.received) {
                let len = header.packet_len() as usize;
                if self.received.len() < len {
                    break;
                }
                let packet: Vec<u8> = self.received.drain(..len).collect();
                if header.packet == PacketType::Disconnect {
                    let _ = self.stream.shutdown().await;
                    return;
                }
                self.answer(header, &packet[header.len()..]).await;
            }
        }
    }

    async fn answer(&mut self, header: FixedHeader, body: &[u8]) {
        let properties: &[u8] = if self.is_v5 { b"\x00" } else { b"" };
        let id = |at| [body[at], body[at + 1]];
        match header.packet {
            PacketType::Pingreq => self.send(b"\xd0\x00").await,
            PacketType::Subscribe => {
                self.subscribed = true;
                let ack = [&id(0)[..], properties, b"\x00"].concat();
                self.send(&[&[0x90, ack.len() as u8][..], &ack].concat()).await;
            }
            PacketType::Pubrel => self.send(&[&b"\x70\x02"[..], &id(0)].concat()).await,
            PacketType::Publish => {
                let mut reader = Reader::new(body);
                let topic = reader.binary().expect("topic").to_vec();
                let qos = header.flags >> 1 & 3;
                if qos > 0 {
                    let id = *reader.array::<2>().expect("packet id");
                    let ack = if qos == 1 { 0x40 } else { 0x50 };
                    self.send(&[&[ack, 2][..], &id].concat()).await;
                }
                if self.is_v5 {
                    reader.block().expect("properties");
                }
                let _ = self.messages.send((topic, reader.rest().to_vec()));
            }
            _ => {}
        }
    }

    fn publish(&self, (topic, payload): &Message) -> Vec<u8> {
        let properties: &[u8] = if self.is_v5 { b"\x00" } else { b"" };
        let len = (topic.len() as u16).to_be_bytes();
        let body = [&len[..], topic, properties, payload].concat();
        let mut packet = vec![0x30];
        let mut rest = body.len();
        while rest >= 128 {
            packet.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        packet.push(rest as u8);
        [packet, body].concat()
    }

    async fn send(&mut self, packet: &[u8]) {
        let _ = self.stream.write_all(packet).await;
        let _ = self.stream.flush().await;
    }
}
