//! A secret in front of the user name, for a port that every program of the machine can reach.

use hybrid_handshake::Error;
use hybrid_handshake::mqtt::Connect;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Checks that the CONNECT's user name is `token`, alone or as `token:user`, and gives the CONNECT without it. With the
/// bare token goes what stood for a password.
///
/// # Errors
/// [`Error::Rejected`] if it does not know the token, else those of [`Connect::parse`].
pub(super) fn strip(connect: &[u8], token: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let parsed = Connect::parse(connect)?;
    let (given, rest) = parsed
        .user_name
        .and_then(|name| name.split_at_checked(token.len()))
        .ok_or(Error::Rejected)?;
    if !bool::from(given.as_bytes().ct_eq(token.as_bytes())) {
        return Err(Error::Rejected);
    }
    let stripped = match rest.strip_prefix(':') {
        Some(user) => Connect {
            user_name: Some(user),
            ..parsed
        },
        None if rest.is_empty() => Connect {
            user_name: None,
            password: None,
            ..parsed
        },
        None => return Err(Error::Rejected),
    };
    let mut out = Zeroizing::new(vec![0; connect.len()]);
    let len = stripped.write(&mut out)?;
    out.truncate(len);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "secret";

    fn stripped(connect: &[u8]) -> Result<Vec<u8>, Error> {
        strip(connect, TOKEN).map(|connect| connect.to_vec())
    }

    #[test]
    fn the_token_alone_leaves_a_connect_without_login() {
        let given = b"\x10\x17\x00\x04MQTT\x04\xc2\x00\x3c\x00\x01c\x00\x06secret\x00\x00";
        assert_eq!(
            stripped(given).as_deref(),
            Ok(&b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01c"[..])
        );
    }

    #[test]
    fn a_login_behind_the_token_is_kept_with_will_and_properties() {
        let given = b"\x10\x31\x00\x04MQTT\x05\xc6\x00\x3c\x03\x21\x00\x14\x00\x01c\x02\x01\x01\x00\x01t\x00\x02hi\x00\x09secret:me\x00\x02pw";
        let expected = b"\x10\x2a\x00\x04MQTT\x05\xc6\x00\x3c\x03\x21\x00\x14\x00\x01c\x02\x01\x01\x00\x01t\x00\x02hi\x00\x02me\x00\x02pw";
        let mut given = given.to_vec();
        given[1] = given.len() as u8 - 2;
        let mut expected = expected.to_vec();
        expected[1] = expected.len() as u8 - 2;
        assert_eq!(stripped(&given), Ok(expected));
    }

    #[test]
    fn without_the_token_there_is_no_connect() {
        for given in [
            &b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01c"[..],
            b"\x10\x15\x00\x04MQTT\x04\x82\x00\x3c\x00\x01c\x00\x06Secret",
            b"\x10\x14\x00\x04MQTT\x04\x82\x00\x3c\x00\x01c\x00\x05secre",
            b"\x10\x16\x00\x04MQTT\x04\x82\x00\x3c\x00\x01c\x00\x07secrets",
        ] {
            assert_eq!(stripped(given), Err(Error::Rejected), "{given:02x?}");
        }
    }
}
