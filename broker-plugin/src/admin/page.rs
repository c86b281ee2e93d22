//! The admin page: one HTML document without scripts and without anything from elsewhere.

use std::fmt::{self, Display, Write as _};

use crate::{policy::TopicRules, registry::Overview};

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
    plot(out, &Latency::collect(samples))?;
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
    let heads = ["id", "credential", "status", "topics", "enrolled", "last seen"];
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
        let topics = if device.topics == TopicRules::default() {
            "default"
        } else {
            "its own"
        };
        let (id, enrolled) = (Escaped(&device.id), ago(now, device.enrolled));
        writeln!(
            out,
            "<tr class={status}><td>{id}<td>{credential}<td>{status}<td>{topics}<td>{enrolled}<td>{seen}"
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

/// The handshake histogram.
struct Latency<'a> {
    /// Suite and mode.
    series: Vec<(&'a str, &'a str)>,
    /// Upper bound in seconds, and the count of each series.
    buckets: Vec<(f64, Vec<f64>)>,
}

impl<'a> Latency<'a> {
    fn collect(samples: &[Sample<'a>]) -> Self {
        let mut this = Self {
            series: Vec::new(),
            buckets: Vec::new(),
        };
        let buckets = samples
            .iter()
            .filter(|sample| sample.name == "kemqtt_handshake_seconds_bucket");
        let (mut bucket, mut below) = (0, 0.0);
        for sample in buckets {
            let label = |name| sample.label(name).unwrap_or_default();
            let series = (label("suite"), label("mode"));
            if this.series.last() != Some(&series) {
                // The buckets of a series stand together, and each counts those before it.
                this.series.push(series);
                (bucket, below) = (0, 0.0);
            }
            let bound = match label("le") {
                "+Inf" => f64::INFINITY,
                bound => bound.parse().unwrap_or_default(),
            };
            if this.buckets.len() <= bucket {
                this.buckets.push((bound, Vec::new()));
            }
            if let Some((_, counts)) = this.buckets.get_mut(bucket) {
                counts.resize(this.series.len(), 0.0);
                if let Some(count) = counts.last_mut() {
                    *count = sample.value - below;
                }
            }
            (bucket, below) = (bucket + 1, sample.value);
        }
        this
    }

    fn name(&self, number: usize) -> String {
        let (suite, mode) = self.series.get(number).copied().unwrap_or_default();
        format!("{}, {}", Escaped(suite), Escaped(&mode_name(mode)))
    }
}

/// A bar per bucket, with a part per suite and mode.
fn plot(out: &mut String, latency: &Latency<'_>) -> fmt::Result {
    let total = |counts: &[f64]| counts.iter().sum::<f64>();
    let highest = latency
        .buckets
        .iter()
        .fold(0.0_f64, |high, (_, counts)| high.max(total(counts)));
    if highest == 0.0 {
        return writeln!(out, "<p id=latency>None yet.");
    }
    let width = latency.buckets.len() * BAR;
    writeln!(
        out,
        "<svg id=latency role=img viewBox='0 0 {width} {}' width={width} height={}><title>Handshakes by time</title>",
        HEIGHT + 40,
        HEIGHT + 40
    )?;
    for (i, (bound, counts)) in latency.buckets.iter().enumerate() {
        let (x, bar, mut y) = (i * BAR, BAR - 4, HEIGHT as f64 + 14.0);
        for (number, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let height = count / highest * HEIGHT as f64;
            y -= height;
            let (colour, name) = (number % COLOURS, latency.name(number));
            writeln!(
                out,
                "<rect class=s{colour} x={x} y={y:.1} width={bar} height={height:.1}><title>{name}: {count}</title></rect>"
            )?;
        }
        let (middle, all) = (x + bar / 2, total(counts));
        if all > 0.0 {
            writeln!(out, "<text x={middle} y={:.1}>{all}</text>", y - 3.0)?;
        }
        writeln!(out, "<text x={middle} y={}>{}</text>", HEIGHT + 30, bound_name(*bound))?;
    }
    writeln!(
        out,
        "</svg>\n<p>Handshakes by the time from the first packet to M4, up to the time below each bar.\n<ul id=series>"
    )?;
    for number in 0..latency.series.len() {
        writeln!(out, "<li class=s{}>{}", number % COLOURS, latency.name(number))?;
    }
    writeln!(out, "</ul>")
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
/// Classes `s0` and so on of the style sheet.
const COLOURS: usize = 8;
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
.revoked td { color: #999; text-decoration: line-through } rect { fill: var(--c) } svg { max-width: 100% } text { font-size: 11px; text-anchor: middle; fill: #444 }
#series { list-style: none; padding: 0 } #series li::before { content: ''; display: inline-block; width: .8em; height: .8em; margin-right: .5em; background: var(--c) }
.s0 { --c: #3b6ea5 } .s1 { --c: #d9822b } .s2 { --c: #4f9d69 } .s3 { --c: #a0529b } .s4 { --c: #c23b3b } .s5 { --c: #6b6b6b } .s6 { --c: #b59d1f } .s7 { --c: #2f9fa3 }
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
kemqtt_handshake_seconds_bucket{le=\"0.001\",suite=\"x25519-ctrulight-ascon\",mode=\"4\"} 4
kemqtt_handshake_seconds_bucket{le=\"0.002\",suite=\"x25519-ctrulight-ascon\",mode=\"4\"} 7
kemqtt_handshake_seconds_bucket{le=\"+Inf\",suite=\"x25519-ctrulight-ascon\",mode=\"4\"} 7
kemqtt_handshake_seconds_bucket{le=\"0.001\",suite=\"x25519-mlkem768-chacha20poly1305\",mode=\"2\"} 0
kemqtt_handshake_seconds_bucket{le=\"0.002\",suite=\"x25519-mlkem768-chacha20poly1305\",mode=\"2\"} 3
kemqtt_handshake_seconds_bucket{le=\"+Inf\",suite=\"x25519-mlkem768-chacha20poly1305\",mode=\"2\"} 5
# EOF
";

    fn device(id: &str, revoked: bool) -> Overview {
        Overview {
            id: id.to_owned(),
            psk: true,
            revoked,
            topics: TopicRules {
                publish: revoked.then(Vec::new),
                subscribe: None,
            },
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
        assert!(
            page.contains("<tr class=active><td>s1<td>pre-shared key<td>active<td>default<td>51 min ago<td>60 s ago")
        );
        assert!(page.contains("<tr class=revoked><td>s2<td>pre-shared key<td>revoked<td>its own<td>"));
    }

    #[test]
    fn bars_show_what_lies_in_each_bucket() {
        let samples: Vec<_> = METRICS.lines().filter_map(Sample::parse).collect();
        let latency = Latency::collect(&samples);
        let series = [
            ("x25519-ctrulight-ascon", "4"),
            ("x25519-mlkem768-chacha20poly1305", "2"),
        ];
        assert_eq!(latency.series, series);
        let expected = [
            (0.001, vec![4.0, 0.0]),
            (0.002, vec![3.0, 3.0]),
            (f64::INFINITY, vec![0.0, 2.0]),
        ];
        assert_eq!(latency.buckets, expected);
        let page = render(METRICS, None, 0);
        // 6 at most in a bucket: that bar is full, in two parts, and the others are in proportion.
        assert_eq!(page.matches("<rect ").count(), 4);
        assert_eq!(page.matches("height=80.0").count(), 2);
        assert!(
            page.contains("<rect class=s0 x=0 y=67.3 width=52 height=106.7>"),
            "{page}"
        );
        assert!(page.contains("<title>x25519-mlkem768-chacha20poly1305, 2 PSK-auth: 2</title>"));
        assert!(page.contains("<li class=s0>x25519-ctrulight-ascon, 4 resume"));
        assert!(page.contains(">more</text>") && page.contains("registry does not answer"));
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
