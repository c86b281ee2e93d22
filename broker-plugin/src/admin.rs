//! Metrics and health over HTTP, for a scraper on the same machine.

use std::{io, net::SocketAddr, sync::Arc};

use axum::{Router, http::header, routing::get};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::Metrics;

/// The running page.
pub(crate) struct Admin {
    local_addr: SocketAddr,
    task: JoinHandle<()>,
}

impl Admin {
    pub(crate) async fn start(
        address: SocketAddr,
        metrics: Arc<Metrics>,
        stop: CancellationToken,
    ) -> Result<Self, AdminError> {
        if !address.ip().is_loopback() {
            return Err(AdminError::NotLoopback(address));
        }
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| AdminError::Bind(address, error))?;
        let local_addr = listener
            .local_addr()
            .map_err(|error| AdminError::Bind(address, error))?;
        let page = Router::new().route("/health", get(|| async { "ok\n" })).route(
            "/metrics",
            get(move || async move { ([(header::CONTENT_TYPE, OPENMETRICS)], metrics.encode()) }),
        );
        let task = tokio::spawn(async move {
            let served = axum::serve(listener, page).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = served.await {
                tracing::error!(%error, "metrics page");
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

/// Why there is no metrics page.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// Others could read it.
    #[error("{0} is not on loopback")]
    NotLoopback(SocketAddr),
    /// The address cannot be used.
    #[error("{0}: {1}")]
    Bind(SocketAddr, io::Error),
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
