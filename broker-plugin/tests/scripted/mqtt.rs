//! MQTT packets as an application writes them.

use hybrid_handshake::mqtt::{Connect, Level, Properties, Qos, Will};

pub fn connect(level: Level, client_id: &str) -> Vec<u8> {
    written(Connect {
        keep_alive_s: 60,
        ..Connect::new(level, client_id)
    })
}

pub fn connect_with_will(level: Level, client_id: &str, topic: &str, payload: &[u8]) -> Vec<u8> {
    let will = Will {
        qos: Qos::AtMostOnce,
        retain: false,
        properties: Properties::EMPTY,
        topic,
        payload,
    };
    written(Connect {
        keep_alive_s: 60,
        will: Some(will),
        ..Connect::new(level, client_id)
    })
}

pub fn written(connect: Connect<'_>) -> Vec<u8> {
    let mut out = vec![0; 70_000];
    let len = connect.write(&mut out).expect("a CONNECT");
    out.truncate(len);
    out
}

pub fn publish(level: Level, topic: &str, qos: u8, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut body = string(topic);
    if qos > 0 {
        body.extend_from_slice(&id.to_be_bytes());
    }
    if level.is_v5() {
        body.push(0);
    }
    body.extend_from_slice(payload);
    packet(0x30 | qos << 1, &body)
}

pub fn subscribe(level: Level, id: u16, filter: &str, qos: u8) -> Vec<u8> {
    let mut body = id.to_be_bytes().to_vec();
    if level.is_v5() {
        body.push(0);
    }
    body.extend_from_slice(&string(filter));
    body.push(qos);
    packet(0x82, &body)
}

pub fn unsubscribe(level: Level, id: u16, filter: &str) -> Vec<u8> {
    let mut body = id.to_be_bytes().to_vec();
    if level.is_v5() {
        body.push(0);
    }
    body.extend_from_slice(&string(filter));
    packet(0xa2, &body)
}

pub fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    let mut len = body.len();
    loop {
        let more = if len > 0x7f { 0x80 } else { 0 };
        out.push((len & 0x7f) as u8 | more);
        len >>= 7;
        if len == 0 {
            break;
        }
    }
    out.extend_from_slice(body);
    out
}

pub const DISCONNECT: &[u8] = &[0xe0, 0];
pub const PINGREQ: &[u8] = &[0xc0, 0];

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}
