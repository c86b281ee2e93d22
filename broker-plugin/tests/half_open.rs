//! What a connection costs that stays in its handshake, in the whole process: tasks, buffers, tables, keys.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Registry, registry::SealKey};
use tokio::{net::TcpStream, time::sleep};

use client::{Device, Wire, connect_packet, within};

/// The program, so that nothing of its clients is counted.
struct Gateway {
    child: Child,
    address: SocketAddr,
    device: Device,
    _folder: tempfile::TempDir,
}

impl Gateway {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, key) = (folder.path().join("kemqtt.db"), folder.path().join("kemqtt.key"));
        let registry = Registry::create(&file, SealKey::create(&key).unwrap()).await.unwrap();
        let broker = registry
            .generate_broker_key(KemId::MlKem768, Group::X25519)
            .await
            .unwrap();
        let psk = registry.enroll_psk("s1").await.unwrap();
        registry.close().await;
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_kemqtt-broker"))
            .current_dir(folder.path())
            // Where there are more processors, what more threads hold would be counted too.
            .env("TOKIO_WORKER_THREADS", "2")
            .args([
                "run",
                "--listen",
                &address.to_string(),
                "--half-open",
                "2000",
                "--log",
                "off",
            ])
            .args([
                "--source-rate",
                "100000",
                "--source-burst",
                "100000",
                "--m3-timeout",
                "600",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let listens = async {
            while TcpStream::connect(address).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        within(listens).await;
        Self {
            child,
            address,
            device: Device::psk(&broker, &psk),
            _folder: folder,
        }
    }

    /// A connection whose M2 is here and whose M3 never comes: of all that wait, those hold most.
    async fn half_open(&self) -> Wire {
        let mut wire = Wire::open(self.address).await;
        wire.send(&connect_packet(&self.device.m1().0)).await;
        self.device.read_m2(&mut wire).await.expect("M2");
        wire
    }

    /// Bytes that the process holds.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// `cargo test -p kemqtt-broker --test half_open -- --nocapture` prints the figure.
#[tokio::test]
async fn a_half_open_connection_costs_at_most_4_kb() {
    // Below the usual limit of open files.
    const COUNT: usize = 800;
    let gateway = Gateway::start().await;
    // What is allocated once is there after the first ones.
    let mut wires = Vec::new();
    for _ in 0..50 {
        wires.push(gateway.half_open().await);
    }
    let before = gateway.resident();
    for _ in 0..COUNT {
        wires.push(gateway.half_open().await);
    }
    let each = gateway.resident().saturating_sub(before) / COUNT as u64;
    println!("{each} bytes per half-open connection");
    assert!(each <= 4096, "{each} bytes");
    assert!(each > 500, "{each} bytes: what was measured?");
}
