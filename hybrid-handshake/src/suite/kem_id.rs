/// Makes `KemId` and its properties from one table, one line per KEM.
macro_rules! kems {
    ($($code:literal $variant:ident $name:literal $category:literal $ek:literal $ct:literal $status:expr;)*) => {
        /// A KEM that has a code in HKM1: the first byte of a suite id, and the first byte of a broker or device key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum KemId {
            $(#[doc = concat!("`", $name, "`")] $variant = $code,)*
        }

        impl KemId {
            /// Every KEM with a code, in the order of the codes.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The KEM with this code.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name within a suite name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Security category 1, 3 or 5; for the order of suites only, not a claim.
            pub const fn category(self) -> u8 {
                match self { $(Self::$variant => $category,)* }
            }

            /// Length of an encapsulation key in bytes.
            pub const fn ek_len(self) -> usize {
                match self { $(Self::$variant => $ek,)* }
            }

            /// Length of a ciphertext in bytes.
            pub const fn ct_len(self) -> usize {
                match self { $(Self::$variant => $ct,)* }
            }

            /// How far the world trusts it; what a user interface has to show.
            pub const fn status(self) -> KemStatus {
                use KemStatus::{Research, Standard};
                match self { $(Self::$variant => $status,)* }
            }
        }
    };
}

kems! {
    // code, variant, name, category, ek, ct, status
    0x01 MlKem512        "mlkem512"        1  800  768 Standard;
    0x02 MlKem768        "mlkem768"        3 1184 1088 Standard;
    0x03 MlKem1024       "mlkem1024"       5 1568 1568 Standard;
    0x10 CtruLight       "ctrulight"       1  640  512 Research("CTRU-Light is a research KEM; an honest decapsulation fails with probability about 2^-100");
    0x11 LightSaber      "lightsaber"      1  672  736 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-120");
    0x12 NtruPlus768     "ntruplus768"     1 1152 1152 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x13 NtruPlus864     "ntruplus864"     3 1296 1296 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x14 NtruPlus1152    "ntruplus1152"    5 1728 1728 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x15 NtruHps2048509  "ntruhps2048509"  1  699  699 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x16 NtruHrss701     "ntruhrss701"     3 1138 1138 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x17 NtruHps2048677  "ntruhps2048677"  3  930  930 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x18 NtruHps4096821  "ntruhps4096821"  5 1230 1230 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x19 CtruLightSha3   "ctrulightsha3"   1  640  512 Research("CTRU-Light is a research KEM; an honest decapsulation fails with probability about 2^-100");
    0x1a Saber           "saber"           3  992 1088 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-136");
    0x1b FireSaber       "firesaber"       5 1312 1472 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-165");
}

impl KemId {
    /// The code in suite ids and keys.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// ML-KEM: the only family that a broker key may have and that a floor of ML-KEM accepts.
    pub const fn is_ml_kem(self) -> bool {
        matches!(self, Self::MlKem512 | Self::MlKem768 | Self::MlKem1024)
    }
}

/// Whether a KEM is a published standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KemStatus {
    /// FIPS 203.
    Standard,
    /// No standard. The text is one line that a user has to see before such a suite is used.
    Research(&'static str),
}

impl KemStatus {
    /// The line to show, if there is one.
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Standard => None,
            Self::Research(warning) => Some(warning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ml_kem_needs_no_warning() {
        for kem in KemId::ALL {
            assert_eq!(kem.status().warning().is_none(), kem.is_ml_kem(), "{kem:?}");
        }
    }
}
