//! What the client trusts, and who it is.

use embedded_tls::{
    Aes128GcmSha256, Certificate, CryptoProvider, CryptoRngCore, NoClock, SignatureScheme, TlsError, TlsVerifier,
    pki::CertVerifier,
};
use p256::{
    SecretKey,
    ecdsa::{DerSignature, SigningKey},
};
use signature::SignerMut;

use crate::entropy::Hardware;

/// One authority, and perhaps a certificate of the device.
pub(crate) struct Provider(CertVerifier<'static, Aes128GcmSha256, NoClock, CERTIFICATE_LEN>);

impl Provider {
    pub(crate) fn new() -> Self {
        Self(CertVerifier::new(Certificate::X509(AUTHORITY)))
    }
}

impl CryptoProvider for Provider {
    type CipherSuite = Aes128GcmSha256;
    type Signature = DerSignature;

    fn rng(&mut self) -> impl CryptoRngCore {
        Hardware
    }

    fn verifier(&mut self) -> Result<&mut impl TlsVerifier<Aes128GcmSha256>, TlsError> {
        Ok(&mut self.0)
    }

    fn signer(&mut self) -> Result<(impl SignerMut<DerSignature>, SignatureScheme), TlsError> {
        let key = SecretKey::from_sec1_der(DEVICE_KEY).map_err(|_| TlsError::InvalidPrivateKey)?;
        Ok((SigningKey::from(&key), SignatureScheme::EcdsaSecp256r1Sha256))
    }

    fn client_cert(&mut self) -> Option<Certificate<impl AsRef<[u8]>>> {
        cfg!(feature = "client-certificate").then_some(Certificate::X509(DEVICE))
    }
}

/// The longest certificate of a server.
const CERTIFICATE_LEN: usize = 512;

const AUTHORITY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/authority.der"));
const DEVICE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device.der"));
const DEVICE_KEY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device-key.der"));
