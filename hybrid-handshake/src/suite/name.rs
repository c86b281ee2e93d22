//! Suite names: `group-kem-aead`, and `-p1` or `-p2` where the profile is not the usual one of the AEAD.

use core::{fmt, str::FromStr};

use super::{AeadId, Group, KemId, Profile, SuiteId};

impl fmt::Display for SuiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.profile() {
            profile if profile == self.aead().usual_profile() => "",
            Profile::P0 => "",
            Profile::P1 => "-p1",
            Profile::P2 => "-p2",
        };
        write!(
            f,
            "{}-{}-{}{suffix}",
            self.group().name(),
            self.kem().name(),
            self.aead().name()
        )
    }
}

/// No suite has this name in this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSuite;

impl fmt::Display for UnknownSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown suite; the name is group-kem-aead, such as `x25519-mlkem768-chacha20poly1305`")
    }
}

impl core::error::Error for UnknownSuite {}

impl FromStr for SuiteId {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        parse(name).ok_or(UnknownSuite)
    }
}

fn parse(name: &str) -> Option<SuiteId> {
    let mut words = name.split('-');
    let group = words.next()?;
    let group = [Group::None, Group::X25519, Group::P256]
        .into_iter()
        .find(|g| g.name() == group)?;
    let kem = words.next()?;
    let kem = KemId::ALL.iter().copied().find(|k| k.name() == kem)?;
    let aead = words.next()?;
    let aead = [AeadId::Ascon, AeadId::ChaCha20Poly1305]
        .into_iter()
        .find(|a| a.name() == aead)?;
    let profile = match (group, words.next()) {
        (Group::None, None) => Profile::P0,
        (Group::None, Some(_)) => return None,
        (_, None) => aead.usual_profile(),
        (_, Some("p1")) => Profile::P1,
        (_, Some("p2")) => Profile::P2,
        (_, Some(_)) => return None,
    };
    match words.next() {
        None => SuiteId::new(kem, group, profile, aead),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn names_of_the_document() {
        for (name, code) in [
            ("x25519-mlkem768-chacha20poly1305", 0x0222),
            ("x25519-mlkem768-chacha20poly1305-p1", 0x0212),
            ("x25519-ctrulight-ascon", 0x1011),
            ("p256-ntruhps4096821-ascon-p2", 0x1861),
        ] {
            assert_eq!(name.parse(), Ok(SuiteId::from_code(code).unwrap()));
            assert_eq!(SuiteId::from_code(code).unwrap().to_string(), name);
        }
    }

    #[test]
    fn every_name_survives_the_round_trip() {
        for suite in (0..=u16::MAX).filter_map(SuiteId::from_code) {
            assert_eq!(suite.to_string().parse(), Ok(suite), "{suite}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "x25519",
            "x25519-mlkem768",
            "X25519-mlkem768-ascon",
            "x25519-mlkem768-ascon-p0",
            "x25519-mlkem768-ascon-p1-",
            "x25519--ascon",
            "none-mlkem768-ascon-p1",
            "mlkem768-x25519-ascon",
        ] {
            assert_eq!(name.parse::<SuiteId>(), Err(UnknownSuite), "{name}");
        }
        assert_eq!("none-mlkem768-ascon".parse::<SuiteId>().is_ok(), cfg!(feature = "lab"));
    }
}
