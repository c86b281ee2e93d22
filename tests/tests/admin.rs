//! The operator's pages: in a browser, and as a scraper sees them.

use std::{path::Path, time::Duration};

use anyhow::{Result, ensure};
use kemqtt_tests::{Client, Gateway, Mosquitto, Office, get, output_within};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep},
};

async fn gateway(office: &Office, broker: &Mosquitto) -> Result<Gateway> {
    let backend = format!("tcp://{}", broker.address());
    office.gateway("gateway", &["--backend", &backend]).await
}

/// The document after headless Chromium has read it, with every way to the outside cut.
async fn dom(gateway: &Gateway, profile: &Path) -> Result<String> {
    let (url, profile) = (
        format!("http://{}/", gateway.admin()),
        format!("--user-data-dir={}", profile.display()),
    );
    let arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        // It may be small in a container.
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--virtual-time-budget=2000",
        &profile,
        "--dump-dom",
        &url,
    ];
    let run = output_within("chromium", arguments, Duration::from_secs(90)).await?;
    ensure!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(String::from_utf8(run.stdout)?)
}

/// What the page says behind the name of a device.
fn row<'p>(page: &'p str, id: &str) -> &'p str {
    let behind = page.split(&format!("<td>{id}</td>")).nth(1).unwrap_or_default();
    behind.split("</tr>").next().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_shows_devices_suites_latency_and_refusals() -> Result<()> {
    let (office, broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let gateway = gateway(&office, &broker).await?;
    let (good, bad) = (office.device("pump-1").await?, office.device("pump-2").await?);
    office.run(&["revoke", "pump-2"]).await?;
    let address = gateway.address().to_string();
    let session = Client::connect("pump-1", &address, good, |_| {}).await?;
    ensure!(Client::connect("pump-2", &address, bad, |_| {}).await.is_err());
    // `last seen` is written in a second or so.
    let end = Instant::now() + Duration::from_secs(30);
    while row(&get(gateway.admin(), "/").await?.1, "pump-1").contains("never") {
        ensure!(Instant::now() < end, "never seen");
        sleep(Duration::from_millis(200)).await;
    }

    let page = dom(&gateway, &office.file("chromium")).await?;
    for part in [
        "<title>kemqtt-broker</title>",
        "<dd id=\"kemqtt_sessions\">1",
        "<dd id=\"kemqtt_backend_up\">1",
        "<td>x25519-mlkem768-chacha20poly1305",
        "<td>2 PSK-auth",
        "<svg id=\"latency\"",
        "<td>revoked</td><td>0x87</td>",
        "<tr class=\"active\"><td>pump-1</td>",
        "<tr class=\"revoked\"><td>pump-2</td>",
    ] {
        ensure!(page.contains(part), "{part} is missing in:\n{page}");
    }
    let row = row(&page, "pump-1");
    ensure!(!row.contains("never"), "{row}");
    let bar = "<title>x25519-mlkem768-chacha20poly1305, 2 PSK-auth: 1</title></rect>";
    ensure!(page.contains(bar), "the handshake in its bar of the plot:\n{page}");
    ensure!(page.contains("<ul id=\"series\">"), "{page}");
    ensure!(!page.contains("<script") && !page.contains(" src="), "{page}");
    drop(session);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_readiness_tell_the_state_of_the_back_end() -> Result<()> {
    let (office, mut broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let gateway = gateway(&office, &broker).await?;
    let (ok, unavailable) = ("HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable");
    assert_eq!(get(gateway.admin(), "/ready").await?, (ok.into(), "ready\n".into()));
    broker.peer.kill().await?;
    let config = office.device("pump-1").await?;
    let address = gateway.address().to_string();
    ensure!(Client::connect("pump-1", &address, config, |_| {}).await.is_err());
    assert_eq!(
        get(gateway.admin(), "/ready").await?,
        (unavailable.into(), "down: back end\n".into())
    );
    assert_eq!(get(gateway.admin(), "/health").await?, (ok.into(), "ok\n".into()));
    assert_eq!(gateway.metric("kemqtt_backend_up").await?, 0.0);
    let (status, _) = get(gateway.admin(), "/nothing").await?;
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    Ok(())
}

/// A web site cannot read the page through a name that it points at loopback.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_answers_under_its_address_only() -> Result<()> {
    let (office, broker) = (Office::open(None).await?, Mosquitto::start().await?);
    let gateway = gateway(&office, &broker).await?;
    for (host, status) in [
        ("localhost:9464", "200"),
        ("127.0.0.1", "200"),
        ("[::1]:9464", "200"),
        ("rebound.example", "421"),
        ("127.0.0.1.rebound.example:9464", "421"),
    ] {
        let mut stream = TcpStream::connect(gateway.admin()).await?;
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        ensure!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
        ensure!(status != "200" || answer.contains("content-security-policy: default-src 'none'"));
    }
    Ok(())
}
