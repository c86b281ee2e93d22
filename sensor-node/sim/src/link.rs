//! The node's UART on one side, a TCP connection to the broker on the other, by the escapes of [`kemqtt_node::link`].

mod packets;

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use kemqtt_node::link::{ESCAPE, FromDevice, ToDevice};

/// What the node said besides the bytes of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It asked for a connection, which is up or was refused.
    Dialled {
        /// Whether the broker answered.
        up: bool,
    },
    /// It hung up.
    HungUp,
    /// One line of its log.
    Log(String),
    /// A packet to the broker is complete.
    Sent(Packet),
}

pub use packets::{Framing, Packet};

/// The wire between UART and TCP.
pub struct Bridge {
    broker: SocketAddr,
    stream: Option<TcpStream>,
    state: State,
    up: Framing,
    down: Framing,
    received: Vec<Packet>,
}

enum State {
    Stream,
    Escaped,
    Log(Vec<u8>),
}

impl Bridge {
    /// A wire to the broker at this address; it dials when the node does.
    pub fn new(broker: SocketAddr) -> Self {
        Self {
            broker,
            stream: None,
            state: State::Stream,
            up: Framing::default(),
            down: Framing::default(),
            received: Vec::new(),
        }
    }

    /// Takes the packets from the broker that are complete.
    pub fn take_received(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.received)
    }

    /// Takes what the node wrote: forwards the stream, obeys the escapes, and puts answers to them into `to_node`.
    pub fn from_node(&mut self, bytes: &[u8], to_node: &mut Vec<u8>) -> Vec<Said> {
        let (mut said, mut stream) = (Vec::new(), Vec::new());
        for &byte in bytes {
            match &mut self.state {
                State::Stream if byte == ESCAPE => self.state = State::Escaped,
                State::Stream => stream.push(byte),
                State::Log(line) if byte == b'\n' => {
                    said.push(Said::Log(String::from_utf8_lossy(line).into_owned()));
                    self.state = State::Stream;
                }
                State::Log(line) => line.push(byte),
                State::Escaped => {
                    self.state = State::Stream;
                    if byte == FromDevice::Literal as u8 {
                        stream.push(ESCAPE);
                    } else if byte == FromDevice::Log as u8 {
                        self.state = State::Log(Vec::new());
                    } else if byte == FromDevice::Open as u8 {
                        stream.clear();
                        let up = self.dial();
                        to_node.extend([ESCAPE, if up { ToDevice::Up } else { ToDevice::Closed } as u8]);
                        said.push(Said::Dialled { up });
                    } else if byte == FromDevice::Close as u8 {
                        said.extend(self.send(&stream, to_node));
                        stream.clear();
                        self.hang_up();
                        said.push(Said::HungUp);
                    }
                }
            }
        }
        said.extend(self.send(&stream, to_node));
        said
    }

    /// Reads what the broker has sent, as the UART shall carry it.
    pub fn to_node(&mut self) -> Vec<u8> {
        let Some(stream) = &mut self.stream else {
            return Vec::new();
        };
        let mut bytes = [0; 1024];
        match stream.read(&mut bytes) {
            Ok(0) => self.closed(),
            Ok(len) => {
                self.received.extend(self.down.feed(&bytes[..len]));
                escaped(&bytes[..len])
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Vec::new(),
            Err(_) => self.closed(),
        }
    }

    fn dial(&mut self) -> bool {
        self.hang_up();
        (self.up, self.down) = Default::default();
        let stream = TcpStream::connect_timeout(&self.broker, DIAL_TIMEOUT);
        let ready = stream.and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        self.stream = ready.ok();
        self.stream.is_some()
    }

    fn hang_up(&mut self) {
        if let Some(stream) = self.stream.take() {
            // It may be gone already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn send(&mut self, mut bytes: &[u8], to_node: &mut Vec<u8>) -> impl Iterator<Item = Said> + use<> {
        let packets = self.up.feed(bytes);
        while let Some(stream) = self.stream.as_mut().filter(|_| !bytes.is_empty()) {
            match stream.write(bytes) {
                Ok(len) => bytes = &bytes[len..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => to_node.extend(self.closed()),
            }
        }
        packets.into_iter().map(Said::Sent)
    }

    fn closed(&mut self) -> Vec<u8> {
        self.hang_up();
        vec![ESCAPE, ToDevice::Closed as u8]
    }
}

fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 8);
    for &byte in bytes {
        out.push(byte);
        if byte == ESCAPE {
            out.push(ToDevice::Literal as u8);
        }
    }
    out
}

const DIAL_TIMEOUT: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        time::Duration,
    };

    use super::{Bridge, Packet, Said};

    #[test]
    fn a_stream_goes_both_ways_and_escapes_stay_out_of_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut bridge = Bridge::new(listener.local_addr().expect("an address"));
        let mut to_node = Vec::new();
        assert_eq!(
            bridge.from_node(b"noise\xdbO", &mut to_node),
            [Said::Dialled { up: true }]
        );
        assert_eq!(to_node, b"\xdbU");
        let (mut broker, _) = listener.accept().expect("a connection");

        let sent = Packet { first: 0x30, len: 3 };
        assert_eq!(
            bridge.from_node(b"\x30\x01\xdbD\xdbLhi ", &mut to_node),
            [Said::Sent(sent)]
        );
        let said = bridge.from_node(b"there\n\x31\x01\xdb", &mut to_node);
        assert_eq!(said, [Said::Log("hi there".into())]);
        bridge.from_node(b"D", &mut to_node);
        let mut bytes = [0; 6];
        broker.read_exact(&mut bytes).expect("six bytes");
        assert_eq!(&bytes, b"\x30\x01\xdb\x31\x01\xdb");

        broker.write_all(b"\x40\x02x\xdb").expect("written");
        drop(broker);
        assert_eq!(collect(&mut bridge), b"\x40\x02x\xdbD\xdbX");
        assert_eq!(bridge.take_received(), [Packet { first: 0x40, len: 4 }]);
    }

    #[test]
    fn a_refused_dial_is_told_to_the_node() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let (mut bridge, mut to_node) = (Bridge::new(address), Vec::new());
        assert_eq!(bridge.from_node(b"\xdbO", &mut to_node), [Said::Dialled { up: false }]);
        assert_eq!(to_node, b"\xdbX");
    }

    fn collect(bridge: &mut Bridge) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..100 {
            bytes.extend(bridge.to_node());
            if bytes.ends_with(b"\xdbX") {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bytes
    }
}
