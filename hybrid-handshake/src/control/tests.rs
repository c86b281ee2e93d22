extern crate std;

use std::vec;
use std::vec::Vec;

use super::*;

fn client() -> Reader {
    Reader::new(Receiver::Client, Capabilities::ALL)
}

/// A message as the protocol's table has it.
fn wire(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, (body.len() >> 8) as u8, body.len() as u8][..], body].concat()
}

fn ticket() -> Vec<u8> {
    wire(1, &[&[0, 1, 0x51, 0x80][..], &[0xab; 124]].concat())
}

/// Reads one record; every message as it was on the wire.
fn read(reader: &mut Reader, record: &[u8], now_s: u32, buf: &mut [u8]) -> Result<Vec<Vec<u8>>, Error> {
    let mut found = vec![];
    let mut messages = reader.record(record, now_s)?;
    while let Some(message) = messages.next(buf)? {
        let mut out = [0; 5000];
        let len = match message {
            Message::Ticket { lifetime_s, ticket } => {
                write(Kind::Ticket, &[&lifetime_s.to_be_bytes(), ticket], &mut out)
            }
            Message::NextKey(key) => write(Kind::NextKey, &[key], &mut out),
            Message::Successor(h0) => write(Kind::Successor, &[h0.as_bytes()], &mut out),
            Message::Reauth(Reauth { reason, fields, whole }) => {
                let len = write(Kind::Reauth, &[&[reason as u8], fields], &mut out);
                assert_eq!(out[..len.unwrap()], *whole);
                len
            }
        };
        found.push(out[..len.unwrap()].to_vec());
    }
    Ok(found)
}

fn fails(mut reader: Reader, record: &[u8], error: impl Into<Error>) {
    let mut buf = [0; 4200];
    assert_eq!(read(&mut reader, record, 0, &mut buf), Err(error.into()));
    assert_eq!(
        read(&mut reader, &wire(3, &[1; 32]), 60, &mut buf),
        Err(Error::Rejected),
        "an error is final"
    );
}

#[test]
fn typed_views_of_all_four() {
    let mut buf = [0; 4200];
    let mut reader = client();
    let stream = [ticket(), wire(2, b"key"), wire(3, &[7; 32]), wire(4, &[0x18, 9, 9])].concat();
    let mut messages = reader.record(&stream, 0).unwrap();
    assert_eq!(
        messages.next(&mut buf),
        Ok(Some(Message::Ticket {
            lifetime_s: 86_400,
            ticket: &[0xab; 124]
        }))
    );
    assert_eq!(messages.next(&mut buf), Ok(Some(Message::NextKey(b"key"))));
    assert_eq!(
        messages.next(&mut buf),
        Ok(Some(Message::Successor(Fingerprint::from_bytes([7; 32]))))
    );
    let reauth = Reauth {
        reason: ReasonCode::ContinueAuthentication,
        fields: &[9, 9],
        whole: &[4, 0, 3, 0x18, 9, 9],
    };
    assert_eq!(messages.next(&mut buf), Ok(Some(Message::Reauth(reauth))));
    assert_eq!(messages.next(&mut buf), Ok(None));
}

#[test]
fn types_unknown_not_agreed_or_for_the_other_side_close() {
    for kind in [0, 5, 0xff] {
        fails(client(), &wire(kind, &[0; 32]), Malformed::Type);
    }
    let options = [
        Capabilities::TICKETS,
        Capabilities::KEY_NEWS,
        Capabilities::KEY_NEWS,
        Capabilities::REAUTH,
    ];
    let messages = [ticket(), wire(2, b"key"), wire(3, &[7; 32]), wire(4, &[0x18])];
    for (option, message) in options.into_iter().zip(&messages) {
        let reader = Reader::new(Receiver::Client, Capabilities::ALL.without(option));
        fails(reader, &message[..HEADER_LEN], Malformed::Type);
        let mut reader = Reader::new(Receiver::Client, option);
        assert_eq!(read(&mut reader, message, 0, &mut [0; 200]).unwrap(), [&message[..]]);
    }
    for message in &messages[..3] {
        fails(
            Reader::new(Receiver::Broker, Capabilities::ALL),
            message,
            Malformed::Type,
        );
    }
    let mut broker = Reader::new(Receiver::Broker, Capabilities::ALL);
    assert!(read(&mut broker, &messages[3], 0, &mut [0; 200]).is_ok());
}

#[test]
fn lengths_are_refused_from_the_header() {
    for header in [
        [1, 0, 127],
        [1, 0, 129],
        [3, 0, 31],
        [3, 0, 33],
        [2, 0, 0],
        [4, 0, 0],
        [2, 0x10, 1],
        [4, 0xff, 0xff],
    ] {
        fails(client(), &header, Malformed::Length);
    }
    let longest = wire(2, &[1; 4096]);
    assert_eq!(
        read(&mut client(), &longest, 0, &mut [0; 4099]).unwrap(),
        [&longest[..]]
    );
}

#[test]
fn a_buffer_too_short_for_what_was_agreed_is_the_callers_fault() {
    assert_eq!(
        read(&mut client(), &ticket(), 0, &mut [0; 130]),
        Err(Error::Buffer { needed: 131 })
    );
    assert_eq!(
        read(&mut client(), &ticket(), 0, &mut [0; 2]),
        Err(Error::Buffer { needed: 3 })
    );
}

#[test]
fn a_ticket_comes_first_and_once() {
    fails(client(), &[ticket(), ticket()].concat(), Error::UnexpectedPacket);
    fails(
        client(),
        &[wire(3, &[7; 32]), ticket()].concat(),
        Error::UnexpectedPacket,
    );
    let mut reader = client();
    let mut buf = [0; 200];
    assert_eq!(read(&mut reader, &[], 0, &mut buf).unwrap().len(), 0);
    assert!(
        read(&mut reader, &ticket(), 0, &mut buf).is_ok(),
        "an empty record is no message"
    );
}

#[test]
fn nothing_follows_the_end_of_a_reauthentication_in_its_record() {
    let end = wire(4, &[0]);
    let mut reader = client();
    let mut buf = [0; 200];
    assert_eq!(read(&mut reader, &end, 0, &mut buf).unwrap(), [&end[..]]);
    assert!(read(&mut reader, &wire(3, &[7; 32]), 0, &mut buf).is_ok());
    fails(client(), &[&end[..], &[3]].concat(), Malformed::Trailing);
}

#[test]
fn an_unknown_reason_is_refused() {
    fails(client(), &wire(4, &[0x17]), Malformed::Value);
}

#[test]
fn sixteen_messages_or_empty_records_a_minute() {
    let mut buf = [0; 200];
    let successor = wire(3, &[7; 32]);
    let mut reader = client();
    for i in 0..16 {
        let record: &[u8] = if i % 2 == 0 { &successor } else { &[] };
        assert!(read(&mut reader, record, 100, &mut buf).is_ok());
    }
    let mut full = reader.clone();
    assert_eq!(read(&mut full, &[], 159, &mut buf), Err(Error::TooOften));
    let mut full = reader.clone();
    assert_eq!(read(&mut full, &successor, 159, &mut buf), Err(Error::TooOften));
    assert!(read(&mut reader, &successor, 160, &mut buf).is_ok());
}

#[test]
fn records_that_carry_part_of_a_message_are_not_counted() {
    let mut reader = client();
    let mut buf = [0; 200];
    let ticket = ticket();
    for byte in &ticket[..130] {
        assert_eq!(read(&mut reader, &[*byte], 0, &mut buf).unwrap().len(), 0);
        assert!(!reader.at_boundary());
    }
    assert_eq!(read(&mut reader, &ticket[130..], 0, &mut buf).unwrap(), [ticket]);
    assert!(reader.at_boundary());
}

#[test]
fn messages_without_an_encoding_are_misuse() {
    let mut out = [0; 5000];
    assert_eq!(write(Kind::Ticket, &[&[0; 127]], &mut out), Err(Error::Misuse));
    assert_eq!(write(Kind::Successor, &[&[0; 33]], &mut out), Err(Error::Misuse));
    assert_eq!(write(Kind::Reauth, &[], &mut out), Err(Error::Misuse));
    assert_eq!(
        write(Kind::NextKey, &[&[0; 4000], &[0; 97]], &mut out),
        Err(Error::Misuse)
    );
    assert_eq!(write(Kind::NextKey, &[&[0; 4000], &[0; 96]], &mut out), Ok(4099));
    assert_eq!(
        write(Kind::Successor, &[&[0; 32]], &mut out[..34]),
        Err(Error::Buffer { needed: 35 })
    );
    assert_eq!(write(Kind::Reauth, &[&[0x19], b"np"], &mut out), Ok(6));
    assert_eq!(out[..6], *b"\x04\0\x03\x19np");
}

proptest::proptest! {
    #[test]
    fn any_cut_gives_the_same_messages(
        bodies in proptest::collection::vec((2_u8..5, proptest::collection::vec(1_u8.., 1..400)), 1..16),
        cuts in proptest::collection::vec(0_usize..4000, 0..20),
    ) {
        let messages: Vec<Vec<u8>> = bodies
            .iter()
            .map(|(kind, body)| match kind {
                3 => wire(3, &[body[0]; 32]),
                4 => wire(4, &[&[0x18], &body[..]].concat()),
                _ => wire(2, body),
            })
            .collect();
        let stream = messages.concat();
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).chain([stream.len()]).collect();
        ends.sort();
        ends.dedup();
        let (mut reader, mut buf, mut start, mut found) = (client(), [0; 500], 0, vec![]);
        for end in ends.into_iter().filter(|end| *end > 0) {
            found.extend(read(&mut reader, &stream[start..end], 0, &mut buf).unwrap());
            start = end;
        }
        assert_eq!(found, messages);
        assert!(reader.at_boundary());
    }

    #[test]
    fn random_bytes_never_panic(records: Vec<Vec<u8>>, broker: bool, options in 0_u16..8, room in 0_usize..200) {
        let receiver = if broker { Receiver::Broker } else { Receiver::Client };
        let mut reader = Reader::new(receiver, Capabilities::from_bits(options).unwrap());
        let mut buf = vec![0; room];
        for (now_s, record) in (0..).zip(&records) {
            if read(&mut reader, record, now_s, &mut buf).is_err() {
                break;
            }
        }
    }
}
