//! A link and a clock of an operating system.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use embedded_io::{ErrorType, Read, ReadReady, Write};
use kemqtt_node::{Clock, Link};

pub struct TcpLink {
    address: SocketAddr,
    stream: Option<TcpStream>,
}

impl TcpLink {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    fn stream(&mut self) -> io::Result<&mut TcpStream> {
        self.stream.as_mut().ok_or(io::ErrorKind::NotConnected.into())
    }
}

impl Link for TcpLink {
    fn open(&mut self) -> io::Result<()> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        self.stream = Some(stream);
        Ok(())
    }

    fn close(&mut self) {
        self.stream = None;
    }
}

impl ErrorType for TcpLink {
    type Error = io::Error;
}

impl Read for TcpLink {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream()?.read(buf)
    }
}

impl ReadReady for TcpLink {
    fn read_ready(&mut self) -> io::Result<bool> {
        let stream = self.stream()?;
        stream.set_nonblocking(true)?;
        let ready = match stream.peek(&mut [0]) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        };
        stream.set_nonblocking(false)?;
        ready
    }
}

impl Write for TcpLink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream()?.flush()
    }
}

pub struct SystemClock(Instant);

impl SystemClock {
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now_ms(&mut self) -> u32 {
        self.0.elapsed().as_millis() as u32
    }

    fn idle(&mut self) {
        std::thread::sleep(Duration::from_millis(1));
    }
}
