//! A front with one enrolled device, and a look at what it left behind.

use std::{sync::Arc, time::Duration};

use hybrid_handshake::{
    mqtt::ReasonCode,
    suite::{Group, KemId},
};
use kemqtt_broker::{Backend, Front, FrontBuilder, Limits, Metrics, Registry, backend::RumqttdConfig};

use crate::client::{Device, Failure, Session, Wire, within};

pub struct World {
    pub front: Front,
    pub metrics: Arc<Metrics>,
    pub registry: Registry,
    pub broker: String,
    /// Enrolled as `s1`.
    pub device: Device,
}

impl World {
    /// Over the embedded broker.
    pub async fn start(settings: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Self {
        Self::over(Backend::rumqttd(RumqttdConfig::default()), settings).await
    }

    /// Over the embedded broker, with a new registry.
    pub async fn with_registry(registry: Registry, settings: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Self {
        Self::all(registry, Backend::rumqttd(RumqttdConfig::default()), settings).await
    }

    pub async fn over(backend: Backend, settings: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Self {
        Self::all(Registry::in_memory().await.unwrap(), backend, settings).await
    }

    async fn all(registry: Registry, backend: Backend, settings: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Self {
        let broker = registry
            .generate_broker_key(KemId::MlKem768, Group::X25519)
            .await
            .unwrap();
        let psk = registry.enroll_psk("s1").await.unwrap();
        // Test clients rarely close first.
        let limits = Limits {
            close_timeout: Duration::from_millis(200),
            ..Limits::default()
        };
        let builder = settings(
            Front::builder()
                .registry(registry.clone())
                .backend(backend)
                .limits(limits),
        );
        let front = builder.build().await.unwrap();
        let device = Device::psk(&broker, &psk);
        Self {
            metrics: front.metrics_handle(),
            front,
            registry,
            broker,
            device,
        }
    }

    pub async fn enroll(&self, id: &str) -> Device {
        Device::psk(&self.broker, &self.registry.enroll_psk(id).await.unwrap())
    }

    pub async fn wire(&self) -> Wire {
        Wire::open(self.front.local_addr()).await
    }

    /// Connects `device`; its CONNACK must accept.
    pub async fn session(&self, device: &Device, connect: &[u8]) -> Session {
        let (connack, session) = self.connect(device, connect).await.expect("a session");
        assert_eq!(connack[3], 0, "{connack:02x?}");
        session
    }

    pub async fn connect(&self, device: &Device, connect: &[u8]) -> Result<(Vec<u8>, Session), Failure> {
        device.connect(self.front.local_addr(), connect).await
    }

    /// The next packet on `wire` must refuse with `code`, and be counted as `cause`.
    pub async fn refused(&self, mut wire: Wire, cause: &'static str, code: ReasonCode) {
        assert_eq!(wire.refusal().await, Ok(code), "{cause}");
        assert_eq!(self.metrics.refused(cause, code), 1, "{}", self.metrics.encode());
    }

    /// M4 must refuse with this byte, behind it the stream must end, and it must be counted as `cause`.
    pub async fn refused_inside(
        &self,
        device: &Device,
        connect: &[u8],
        cause: &'static str,
        code: ReasonCode,
        byte: u8,
    ) {
        let before = self.metrics.refused(cause, code);
        let (connack, mut session) = self.connect(device, connect).await.expect("an M4");
        assert_eq!((connack[0], connack[3]), (0x20, byte), "{cause}: {connack:02x?}");
        assert!(session.wire.is_closed().await);
        assert_eq!(self.metrics.refused(cause, code), before + 1, "{cause}");
    }

    /// Stops the front and checks that nothing is left behind.
    pub async fn stop(self) {
        let Self { front, metrics, .. } = self;
        within(front.shutdown()).await;
        let gauges = [
            ("open", metrics.open.get()),
            ("half_open", metrics.half_open.get()),
            ("half_open_bytes", metrics.half_open_bytes.get()),
            ("sessions", metrics.sessions.get()),
            ("router_links", metrics.router_links.get()),
        ];
        assert!(gauges.iter().all(|(_, value)| *value == 0), "{gauges:?}");
    }
}
