//! Names that rumqttd 0.20.0 survives.
//!
//! Its router dies of three things that an ordinary client can do, and each takes down every client:
//! a PUBLISH whose topic begins with a non-ASCII character (it slices the topic after one byte), the last member of a
//! `$share` group leaving with an unacknowledged message and a persistent session, and packet types of a server. The
//! names below keep the first away. The second cannot happen because shared subscriptions have links of their own
//! without a session ([`backend::rumqttd`](crate::backend::rumqttd)), and the third because the router never parses
//! client bytes: only checked packets are turned into its types.

use std::borrow::Cow;

/// The topic or filter (not shared) as the router knows it: a first level that begins with a non-ASCII character gets
/// an escape before it, and so does one that begins with the escape. Wildcards see the same levels as before.
pub(crate) fn to_router(name: &str) -> Cow<'_, str> {
    if name.starts_with(|c: char| !c.is_ascii() || c == ESCAPE) {
        Cow::Owned(format!("{ESCAPE}{name}"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Undoes [`to_router`].
pub(crate) fn from_router(name: &[u8]) -> &[u8] {
    name.strip_prefix(&[ESCAPE as u8]).unwrap_or(name)
}

/// The client id as the router knows it: it refuses `+`, `$`, `#` and `/`.
pub(crate) fn client_id(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        if "%+$#/".contains(c) {
            out.push('%');
            out.push_str(&format!("{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// DELETE: ASCII, and in no topic that means well.
const ESCAPE: char = '\x7f';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_come_back_and_never_meet() {
        let names = [
            "é/temp",
            "temp",
            "\x7fé",
            "\x7f\x7fa",
            "é",
            "/é",
            "$x",
            "+/é",
            "#",
            "漢/字",
        ];
        let mapped: Vec<_> = names.iter().map(|n| to_router(n).into_owned()).collect();
        for (name, router) in names.iter().zip(&mapped) {
            assert!(router.is_char_boundary(1), "{name}: the router slices here");
            assert_eq!(from_router(router.as_bytes()), name.as_bytes());
            assert_eq!(mapped.iter().filter(|m| *m == router).count(), 1);
        }
    }

    #[test]
    fn client_ids_lose_what_the_router_refuses_and_never_meet() {
        let ids = ["a/b", "a%2Fb", "a+b", "$", "#", "plain", "%"];
        let mapped: Vec<_> = ids.iter().map(|id| client_id(id)).collect();
        for (i, id) in mapped.iter().enumerate() {
            assert!(!id.contains(['+', '$', '#', '/']), "{id}");
            assert!(mapped.iter().skip(i + 1).all(|other| other != id));
        }
        assert_eq!(client_id("plain"), "plain");
        assert_eq!(client_id("a/b"), "a%2Fb");
    }
}
