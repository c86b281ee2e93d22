//! Packets in one direction of a connection, told apart by MQTT's framing, which HKM1's records share.

/// A complete packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its first byte: type and flags.
    pub first: u8,
    /// Its length on the wire.
    pub len: u64,
}

/// Where in a packet the stream is.
#[derive(Default)]
pub struct Framing {
    first: Option<u8>,
    header: u64,
    value: u64,
    /// What is still to come, once the length is known.
    rest: Option<u64>,
}

impl Framing {
    /// The packets that end in these bytes. Behind a length of more than four bytes, which no packet has, the packets are
    /// without meaning.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Packet> {
        let mut done = Vec::new();
        for &byte in bytes {
            match (self.first, &mut self.rest) {
                (None, _) => (self.first, self.header) = (Some(byte), 1),
                (Some(_), Some(rest)) => *rest -= 1,
                (Some(_), rest) => {
                    self.value |= u64::from(byte & 0x7f) << (7 * (self.header - 1));
                    self.header += 1;
                    if byte < 0x80 || self.header > 4 {
                        *rest = Some(self.value);
                    }
                }
            }
            if let (Some(first), Some(0)) = (self.first, self.rest) {
                done.push(Packet {
                    first,
                    len: self.header + self.value,
                });
                *self = Self::default();
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::{Framing, Packet};

    #[test]
    fn packets_end_where_their_length_says_however_they_are_cut() {
        let mut stream = vec![0x10, 0x82, 0x01];
        stream.extend([7; 130]);
        stream.extend([0xc0, 0, 0x00, 1, 9]);
        let wanted = [(0x10, 133), (0xc0, 2), (0x00, 3)].map(|(first, len)| Packet { first, len });
        assert_eq!(Framing::default().feed(&stream), wanted);
        let mut framing = Framing::default();
        let bytewise: Vec<Packet> = stream.iter().flat_map(|byte| framing.feed(&[*byte])).collect();
        assert_eq!(bytewise, wanted);
    }
}
