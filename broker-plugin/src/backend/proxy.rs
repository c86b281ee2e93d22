//! PROXY protocol version 2 (HAProxy's proxy-protocol.txt, section 2.2): tells a back end who the client is.

use std::net::{IpAddr, SocketAddr};

/// The header that comes before everything else on the back end's connection.
pub(super) fn header(client: SocketAddr, listener: SocketAddr) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    out.push(VERSION_2 | PROXY);
    let (from, to) = (client.ip().to_canonical(), listener.ip().to_canonical());
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            out.extend_from_slice(&[TCP_OVER_IPV4, 0, 12]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
        _ => {
            out.extend_from_slice(&[TCP_OVER_IPV6, 0, 36]);
            out.extend_from_slice(&mapped(from));
            out.extend_from_slice(&mapped(to));
        }
    }
    out.extend_from_slice(&client.port().to_be_bytes());
    out.extend_from_slice(&listener.port().to_be_bytes());
    out
}

fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const VERSION_2: u8 = 0x20;
const PROXY: u8 = 0x01;
const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_as_the_specification_lays_it_out() {
        let got = header("192.0.2.7:4711".parse().unwrap(), "198.51.100.1:1884".parse().unwrap());
        let want = "0d0a0d0a000d0a515549540a2111000cc0000207c63364011267075c";
        assert_eq!(hex::encode(got), want);
    }

    #[test]
    fn ipv6_and_mapped_addresses() {
        let got = header(
            "[2001:db8::7]:4711".parse().unwrap(),
            "[2001:db8::1]:1884".parse().unwrap(),
        );
        assert_eq!(
            hex::encode(&got[12..]),
            "2121002420010db800000000000000000000000720010db80000000000000000000000011267075c"
        );
        let v4 = header("192.0.2.7:1".parse().unwrap(), "192.0.2.8:2".parse().unwrap());
        let mapped = header(
            "[::ffff:192.0.2.7]:1".parse().unwrap(),
            "[::ffff:192.0.2.8]:2".parse().unwrap(),
        );
        assert_eq!(mapped, v4, "an IPv4 client of a dual-stack listener");
    }
}
