//! The read-only pages for the operator over HTTP: admin page, metrics, health.

mod page;

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::get,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{Metrics, Registry, clock::unix_now, front::advice};

/// The running page.
pub(crate) struct Admin {
    local_addr: SocketAddr,
    task: JoinHandle<()>,
}

struct Sources {
    metrics: Arc<Metrics>,
    registry: Registry,
}

impl Admin {
    pub(crate) async fn start(
        address: SocketAddr,
        metrics: Arc<Metrics>,
        registry: Registry,
        stop: CancellationToken,
    ) -> Result<Self, AdminError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| AdminError(address, error))?;
        let local_addr = listener.local_addr().map_err(|error| AdminError(address, error))?;
        let pages = Router::new()
            .route("/", get(overview))
            .route("/health", get(|| async { "ok\n" }))
            .route("/ready", get(ready))
            .route("/metrics", get(metrics_page))
            .layer(middleware::from_fn(by_address_only))
            .with_state(Arc::new(Sources { metrics, registry }));
        let task = tokio::spawn(async move {
            let served = axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = served.await {
                tracing::error!(%error, "admin page");
            }
        });
        Ok(Self { local_addr, task })
    }

    pub(crate) const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Ends the page at once: a scraper that keeps its connection open must not hold the process.
    pub(crate) async fn stopped(self) {
        self.task.abort();
        // Cancelled is what it should be.
        let _ = self.task.await;
    }
}

/// Why there is no admin page: its address cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("admin page: cannot listen on {0}: {1}{advice}", advice = advice(.1))]
pub struct AdminError(SocketAddr, io::Error);

async fn overview(State(sources): State<Arc<Sources>>) -> Response {
    let devices = sources.registry.overview(page::MAX_DEVICES).await;
    let devices = devices.inspect_err(|error| tracing::warn!(%error, "admin page: registry"));
    let html = page::render(&sources.metrics.encode(), devices.ok().as_deref(), unix_now());
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'",
        ),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, html).into_response()
}

async fn ready(State(sources): State<Arc<Sources>>) -> Response {
    let down = [
        ("registry", &sources.metrics.registry_up),
        ("back end", &sources.metrics.backend_up),
    ];
    let down: Vec<&str> = down
        .iter()
        .filter(|(_, up)| up.get() == 0)
        .map(|(name, _)| *name)
        .collect();
    if down.is_empty() {
        (StatusCode::OK, "ready\n".to_owned()).into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("down: {}\n", down.join(", "))).into_response()
    }
}

async fn metrics_page(State(sources): State<Arc<Sources>>) -> Response {
    ([(header::CONTENT_TYPE, OPENMETRICS)], sources.metrics.encode()).into_response()
}

/// A web site may lead a browser on this machine to the page under a name of its own and read the answer. It cannot do
/// so under an address.
async fn by_address_only(headers: HeaderMap, request: Request, next: Next) -> Response {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    if address || name.eq_ignore_ascii_case("localhost") {
        next.run(request).await
    } else {
        (StatusCode::MISDIRECTED_REQUEST, "use the address of this page\n").into_response()
    }
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
