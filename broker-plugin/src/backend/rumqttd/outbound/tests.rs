use rumqttd::protocol::{Protocol as _, v4::V4};

use super::*;

/// A message as the router forwards it: QoS and id can only be set by its own parser.
fn message(qos: u8, packet_id: u16) -> Outgoing {
    let [high, low] = packet_id.to_be_bytes();
    let bytes = [0x30 | qos << 1, 7, 0, 1, b't', high, low, b'h', b'i'];
    let Ok(Packet::Publish(publish, _)) = V4.read_mut(&mut bytes[..].into(), 100) else {
        panic!("a PUBLISH")
    };
    Outgoing::new(publish, None)
}

struct Wire {
    outbound: Outbound,
    out: Vec<u8>,
    router: Vec<Packet>,
}

impl Wire {
    fn new(receive_maximum: u16, max_packet: u32) -> Self {
        Self {
            outbound: Outbound::new(Version::V5, receive_maximum, max_packet),
            out: vec![],
            router: vec![],
        }
    }

    fn forward(&mut self, qos: u8, id: u16) {
        self.outbound.forward(message(qos, id), &mut self.out, &mut self.router);
    }

    fn ack(&mut self, qos: u8, id: u16, code: ReasonCode) {
        self.outbound
            .acknowledged(qos, id, code, &mut self.out, &mut self.router);
    }

    /// First byte and id of each packet written so far; forgets them.
    fn written(&mut self) -> Vec<(u8, u8)> {
        let (mut packets, mut rest) = (vec![], self.out.as_slice());
        while let [first, len, body @ ..] = rest {
            let (body, tail) = body.split_at((*len).into());
            packets.push((*first, if first >> 4 == 3 { body[4] } else { body[1] }));
            rest = tail;
        }
        self.out.clear();
        packets
    }

    /// Names and ids of the packets for the router; forgets them.
    fn routed(&mut self) -> Vec<(&'static str, u16)> {
        let name = |packet| match packet {
            Packet::PubAck(p, _) => ("PUBACK", p.pkid),
            Packet::PubRec(p, _) => ("PUBREC", p.pkid),
            Packet::PubComp(p, _) => ("PUBCOMP", p.pkid),
            other => panic!("{other:?}"),
        };
        self.router.drain(..).map(name).collect()
    }
}

#[test]
fn acknowledgements_reach_the_router_in_its_order() {
    let mut wire = Wire::new(10, 1000);
    wire.forward(1, 1);
    wire.forward(2, 2);
    wire.forward(1, 3);
    assert_eq!(wire.written(), [(0x32, 1), (0x34, 2), (0x32, 3)]);
    wire.ack(1, 3, ReasonCode::Success);
    wire.ack(2, 2, ReasonCode::Success);
    assert_eq!(wire.routed(), []);
    wire.ack(1, 1, ReasonCode::Success);
    assert_eq!(wire.routed(), [("PUBACK", 1), ("PUBREC", 2), ("PUBACK", 3)]);
}

#[test]
fn acknowledgements_that_nobody_waits_for_do_not_reach_the_router() {
    let mut wire = Wire::new(10, 1000);
    wire.ack(1, 7, ReasonCode::Success);
    wire.outbound.completed(7, &mut wire.out, &mut wire.router);
    assert_eq!((wire.routed(), wire.written()), (vec![], vec![]));
    wire.ack(2, 7, ReasonCode::Success);
    assert_eq!(wire.out, [0x62, 3, 0, 7, 0x92]);
    assert_eq!(wire.routed(), []);
    wire.forward(1, 1);
    wire.ack(2, 1, ReasonCode::Success);
    assert_eq!(wire.routed(), [], "PUBREC for QoS 1");
}

#[test]
fn receive_maximum_holds_messages_back_until_others_complete() {
    let mut wire = Wire::new(1, 1000);
    wire.forward(1, 1);
    wire.forward(2, 2);
    wire.forward(1, 3);
    assert_eq!(wire.written(), [(0x32, 1)]);
    wire.ack(1, 3, ReasonCode::Success);
    assert_eq!(wire.routed(), [], "not sent yet");
    wire.ack(1, 1, ReasonCode::Success);
    assert_eq!(wire.written(), [(0x34, 2)]);
    wire.ack(2, 2, ReasonCode::Success);
    assert_eq!(wire.routed(), [("PUBACK", 1), ("PUBREC", 2)]);
    wire.outbound.release(2, &mut wire.out, &mut wire.router);
    assert_eq!(wire.written(), [(0x62, 2)]);
    wire.outbound.completed(2, &mut wire.out, &mut wire.router);
    assert_eq!((wire.routed(), wire.written()), (vec![("PUBCOMP", 2)], vec![(0x32, 3)]));
}

#[test]
fn an_id_in_its_second_half_is_not_used_again() {
    let mut wire = Wire::new(10, 1000);
    wire.forward(2, 1);
    wire.ack(2, 1, ReasonCode::Success);
    wire.outbound.release(1, &mut wire.out, &mut wire.router);
    wire.written();
    wire.forward(2, 1);
    assert_eq!(wire.written(), []);
    wire.outbound.completed(1, &mut wire.out, &mut wire.router);
    assert_eq!(wire.written(), [(0x34, 1)]);
}

#[test]
fn what_the_client_refuses_or_cannot_take_is_completed_for_it() {
    let mut wire = Wire::new(10, 1000);
    wire.forward(2, 1);
    wire.ack(2, 1, ReasonCode::NotAuthorized);
    wire.written();
    wire.outbound.release(1, &mut wire.out, &mut wire.router);
    assert_eq!(
        (wire.routed(), wire.written()),
        (vec![("PUBREC", 1), ("PUBCOMP", 1)], vec![])
    );

    let mut wire = Wire::new(10, 12);
    wire.forward(0, 0);
    wire.forward(1, 1);
    wire.forward(2, 2);
    assert_eq!(
        (wire.routed(), wire.written()),
        (vec![("PUBACK", 1), ("PUBREC", 2)], vec![])
    );
    wire.outbound.release(2, &mut wire.out, &mut wire.router);
    assert_eq!((wire.routed(), wire.written()), (vec![("PUBCOMP", 2)], vec![]));
}
