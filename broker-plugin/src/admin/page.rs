//! The admin page: one HTML document without scripts and without anything from elsewhere.

use std::fmt::{self, Display, Write as _};

use crate::registry::Overview;

/// Devices on the page.
pub(super) const MAX_DEVICES: u32 = 1000;

/// The page from the metrics in the OpenMetrics text format and the devices (`None` if the registry is down).
pub(super) fn render(metrics: &str, devices: Option<&[Overview]>, now: u64) -> String {
    let samples: Vec<Sample<'_>> = metrics.lines().filter_map(Sample::parse).collect();
    let mut out = String::with_capacity(16 << 10);
    // Writing to a `String` cannot fail.
    let _ = write_page(&mut out, &samples, devices, now);
    out
}

fn write_page(out: &mut String, samples: &[Sample<'_>], devices: Option<&[Overview]>, now: u64) -> fmt::Result {
    out.push_str(HEAD);
    writeln!(out, "<dl id=state>")?;
    for (name, text) in STATE {
        let value = samples
            .iter()
            .find(|sample| sample.name == *name)
            .map_or(0.0, |sample| sample.value);
        writeln!(out, "<dt>{text}<dd id={name}>{value}")?;
    }
    writeln!(out, "</dl>\n<h2>Handshake latency</h2>")?;
    plot(out, &buckets(samples))?;
    writeln!(out, "<h2>Suites in use</h2>")?;
    counters(
        out,
        "suites",
        samples,
        "kemqtt_handshakes_total",
        &["suite", "mode"],
        mode_name,
    )?;
    writeln!(out, "<h2>Refusals</h2>")?;
    counters(
        out,
        "refusals",
        samples,
        "kemqtt_refusals_total",
        &["cause", "code"],
        code_name,
    )?;
    writeln!(out, "<h2>Sessions ended</h2>")?;
    counters(out, "closed", samples, "kemqtt_closed_total", &["cause"], plain)?;
    writeln!(out, "<h2>Stopped by the guard</h2>")?;
    counters(out, "guard", samples, "kemqtt_guard_refusals_total", &["what"], plain)?;
    writeln!(out, "<h2>Devices</h2>")?;
    match devices {
        None => writeln!(out, "<p id=devices>The registry does not answer.")?,
        Some(devices) => write_devices(out, devices, now)?,
    }
    out.push_str("</html>\n");
    Ok(())
}

fn write_devices(out: &mut String, devices: &[Overview], now: u64) -> fmt::Result {
    let heads = ["id", "credential", "status", "enrolled", "last seen"];
    writeln!(
        out,
        "<table id=devices><tr>{}",
        heads.map(|head| format!("<th>{head}")).concat()
    )?;
    for device in devices {
        let credential = if device.psk { "pre-shared key" } else { "static key" };
        let status = if device.revoked { "revoked" } else { "active" };
        let seen = device
            .last_seen
            .map_or_else(|| "never".to_owned(), |time| ago(now, time));
        let (id, enrolled) = (Escaped(&device.id), ago(now, device.enrolled));
        writeln!(
            out,
            "<tr class={status}><td>{id}<td>{credential}<td>{status}<td>{enrolled}<td>{seen}"
        )?;
    }
    writeln!(out, "</table>")?;
    if devices.len() >= MAX_DEVICES as usize {
        writeln!(
            out,
            "<p>The first {MAX_DEVICES}; <code>kemqtt-broker list</code> knows all."
        )?;
    }
    Ok(())
}

/// A table of a labelled counter, the largest first.
fn counters(
    out: &mut String,
    id: &str,
    samples: &[Sample<'_>],
    name: &str,
    labels: &[&str],
    last: fn(&str) -> String,
) -> fmt::Result {
    let mut rows: Vec<_> = samples
        .iter()
        .filter(|sample| sample.name == name && sample.value > 0.0)
        .collect();
    rows.sort_by(|a, b| b.value.total_cmp(&a.value));
    if rows.is_empty() {
        return writeln!(out, "<p id={id}>None.");
    }
    let heads: String = labels.iter().map(|label| format!("<th>{label}")).collect();
    writeln!(out, "<table id={id}><tr>{heads}<th>count")?;
    for row in rows {
        out.push_str("<tr>");
        for (i, label) in labels.iter().enumerate() {
            let value = row.label(label).unwrap_or_default();
            let text = if i + 1 == labels.len() {
                last(value)
            } else {
                value.to_owned()
            };
            write!(out, "<td>{}", Escaped(&text))?;
        }
        writeln!(out, "<td>{}", row.value)?;
    }
    writeln!(out, "</table>")
}

/// Upper bound in seconds and count of each bucket of the handshake histogram.
fn buckets(samples: &[Sample<'_>]) -> Vec<(f64, f64)> {
    let mut below = 0.0;
    let buckets = samples
        .iter()
        .filter(|sample| sample.name == "kemqtt_handshake_seconds_bucket");
    buckets
        .filter_map(|sample| {
            let bound = sample.label("le")?;
            let bound = if bound == "+Inf" {
                f64::INFINITY
            } else {
                bound.parse().ok()?
            };
            let count = sample.value - below;
            below = sample.value;
            Some((bound, count))
        })
        .collect()
}

/// A bar per bucket.
fn plot(out: &mut String, buckets: &[(f64, f64)]) -> fmt::Result {
    let (total, highest) = buckets
        .iter()
        .fold((0.0, 0.0_f64), |(sum, high), (_, n)| (sum + n, high.max(*n)));
    if total == 0.0 {
        return writeln!(out, "<p id=latency>None yet.");
    }
    let width = buckets.len() * BAR;
    writeln!(
        out,
        "<svg id=latency role=img viewBox='0 0 {width} {}' width={width} height={}><title>Handshakes by time</title>",
        HEIGHT + 40,
        HEIGHT + 40
    )?;
    for (i, (bound, count)) in buckets.iter().enumerate() {
        let height = count / highest * HEIGHT as f64;
        let (x, y, bar) = (i * BAR, HEIGHT as f64 - height + 14.0, BAR - 4);
        writeln!(out, "<rect x={x} y={y:.1} width={bar} height={height:.1}></rect>")?;
        let middle = x + bar / 2;
        if *count > 0.0 {
            writeln!(out, "<text x={middle} y={:.1}>{count}</text>", y - 3.0)?;
        }
        writeln!(out, "<text x={middle} y={}>{}</text>", HEIGHT + 30, bound_name(*bound))?;
    }
    writeln!(
        out,
        "</svg>\n<p>Handshakes by the time from the first packet to M4, up to the time below each bar."
    )
}

fn bound_name(seconds: f64) -> String {
    if seconds.is_infinite() {
        "more".to_owned()
    } else if seconds < 1.0 {
        format!("{} ms", seconds * 1000.0)
    } else {
        format!("{seconds:.1} s")
    }
}

fn mode_name(mode: &str) -> String {
    let name = match mode {
        "1" => "KEM-auth",
        "2" => "PSK-auth",
        "3" => "anonymous",
        "4" => "resume",
        _ => return mode.to_owned(),
    };
    format!("{mode} {name}")
}

fn code_name(code: &str) -> String {
    match code.parse::<u8>() {
        Ok(0) => "none".to_owned(),
        Ok(code) => format!("0x{code:02X}"),
        Err(_) => code.to_owned(),
    }
}

fn plain(text: &str) -> String {
    text.to_owned()
}

fn ago(now: u64, time: u64) -> String {
    match now.saturating_sub(time) {
        s @ 0..120 => format!("{s} s ago"),
        s @ 120..7200 => format!("{} min ago", s / 60),
        s @ 7200..172_800 => format!("{} h ago", s / 3600),
        s => format!("{} days ago", s / 86_400),
    }
}

/// One line of the OpenMetrics text format.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
}

impl<'a> Sample<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (series, value) = line.rsplit_once(' ').filter(|_| !line.starts_with('#'))?;
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}')?),
            None => (series, ""),
        };
        let value = value.parse().ok()?;
        Some(Self { name, labels, value })
    }

    /// Our own label values have neither quotes nor commas.
    fn label(&self, name: &str) -> Option<&'a str> {
        let mut labels = self.labels.split(',').filter_map(|label| label.split_once('='));
        labels
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.trim_matches('"'))
    }
}

/// Text in HTML.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            c => f.write_char(c),
        })
    }
}

/// Gauges and counters at the top, and what they mean.
const STATE: &[(&str, &str)] = &[
    ("kemqtt_sessions", "sessions"),
    ("kemqtt_open", "connections"),
    ("kemqtt_half_open", "in their handshake"),
    ("kemqtt_connections_total", "connections so far"),
    ("kemqtt_backend_up", "back end up"),
    ("kemqtt_registry_up", "registry up"),
    ("kemqtt_tickets_total", "tickets given out"),
    ("kemqtt_reauthentications_total", "re-authentications"),
];

const BAR: usize = 56;
const HEIGHT: usize = 160;

const HEAD: &str = "<!DOCTYPE html>
<html lang=en>
<meta charset=utf-8>
<meta http-equiv=refresh content=15>
<title>kemqtt-broker</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color: #222; background: #fff }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9em, 1fr)); gap: 1em } dt { color: #666 } dd { margin: 0; font-size: 1.5em }
dl { grid-auto-flow: row dense } dt { grid-row: auto } table { border-collapse: collapse } th, td { text-align: left; padding: .2em 1.2em .2em 0; border-bottom: 1px solid #ddd }
.revoked td { color: #999; text-decoration: line-through } rect { fill: #3b6ea5 } svg { max-width: 100% } text { font-size: 11px; text-anchor: middle; fill: #444 }
</style>
<h1>kemqtt-broker</h1>
";

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "\
# HELP kemqtt_sessions Connections that carry MQTT.
kemqtt_sessions 3
kemqtt_handshakes_total{suite=\"x25519-mlkem768-chacha20poly1305\",mode=\"2\"} 5
kemqtt_handshakes_total{suite=\"x25519-ctrulight-ascon\",mode=\"4\"} 7
kemqtt_refusals_total{cause=\"rejected\",code=\"135\"} 2
kemqtt_refusals_total{cause=\"timeout\",code=\"0\"} 1
kemqtt_handshake_seconds_bucket{le=\"0.001\"} 4
kemqtt_handshake_seconds_bucket{le=\"0.002\"} 10
kemqtt_handshake_seconds_bucket{le=\"+Inf\"} 12
# EOF
";

    fn device(id: &str, revoked: bool) -> Overview {
        Overview {
            id: id.to_owned(),
            psk: true,
            revoked,
            enrolled: 1000,
            last_seen: Some(4000),
        }
    }

    #[test]
    fn every_part_is_there() {
        let page = render(METRICS, Some(&[device("s1", false), device("s2", true)]), 4060);
        assert!(page.contains("<dd id=kemqtt_sessions>3"), "{page}");
        let ctru = page.find("<td>x25519-ctrulight-ascon<td>4 resume<td>7").unwrap();
        let mlkem = page
            .find("<td>x25519-mlkem768-chacha20poly1305<td>2 PSK-auth<td>5")
            .unwrap();
        assert!(ctru < mlkem, "the largest comes first");
        assert!(page.contains("<td>rejected<td>0x87<td>2") && page.contains("<td>timeout<td>none<td>1"));
        assert!(page.contains("<tr class=active><td>s1<td>pre-shared key<td>active<td>51 min ago<td>60 s ago"));
        assert!(page.contains("<tr class=revoked><td>s2"));
    }

    #[test]
    fn bars_show_what_lies_in_each_bucket() {
        let samples: Vec<_> = METRICS.lines().filter_map(Sample::parse).collect();
        assert_eq!(buckets(&samples), [(0.001, 4.0), (0.002, 6.0), (f64::INFINITY, 2.0)]);
        let page = render(METRICS, None, 0);
        assert_eq!(page.matches("<rect ").count(), 3);
        assert!(page.contains("height=160.0") && page.contains(">more</text>"));
        assert!(page.contains("registry does not answer"));
    }

    #[test]
    fn ids_are_text_and_nothing_comes_from_elsewhere() {
        let page = render("", Some(&[device("<script>\"'&", false)]), 0);
        assert!(page.contains("<td>&lt;script&gt;&quot;&#39;&amp;<td>"));
        assert!(
            !page.contains("<script")
                && !page.contains("http://")
                && !page.contains("https://")
                && !page.contains("src=")
        );
        assert!(page.contains("None yet."));
    }
}
