//! K-PKE (FIPS 203 section 5), with one entry of the matrix at a time, wherever the backend has it from. On AVR its functions are not inlined, so that their
//! polynomials leave the stack before the hashes after them; other compilers share the places by themselves.

use kem_core::ct::{CtSink, Emit};
use zeroize::Zeroizing;

use crate::backends::Backend;
use crate::compress::Width;
use crate::params::Sizes;
use crate::poly::{POLY_LEN, Poly, PolyVec};
use crate::sample::{Cbd, Eta, Matrix, Noise, Orientation};

/// K-PKE.KeyGen from line 3 on: `t_hat` | `rho` is the encryption key, `s_hat` the decryption key, both of 384 k bytes.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn keygen<P: Sizes>(
    backend: impl Backend,
    rho: &[u8; 32],
    sigma: &[u8; 32],
    t_hat: &mut [u8],
    s_hat: &mut [u8],
) {
    let mut s = Zeroizing::new(P::PolyVec::ZERO);
    let mut noise = backend.noise(sigma, 0..2 * P::K as u8);
    small_vector::<P>(backend, &mut noise, &mut s);
    let mut out = Emit::new(s_hat);
    for s in s.as_mut() {
        backend.standard(s);
        backend.encode(s, &mut out);
    }

    let mut out = Emit::new(t_hat);
    let mut t = Zeroizing::new(Poly::ZERO);
    let mut matrix = backend.matrix(rho, P::K, Orientation::Plain);
    for i in 0..P::K as u8 {
        P::Eta1::sample(&mut noise, P::K as u8 + i, &mut t);
        backend.ntt(&mut t);
        backend.lift(&mut t);
        for (j, s) in (0..).zip(s.as_ref()) {
            matrix.product(&mut t, [i, j], s);
        }
        backend.standard_sum(&mut t);
        backend.encode(&t, &mut out);
    }
}

/// K-PKE.Encrypt: `ek` is t_hat | rho, the ciphertext goes to `sink`.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn encrypt<P: Sizes>(backend: impl Backend, ek: &[u8], m: &[u8; 32], r: &[u8; 32], sink: &mut impl CtSink) {
    let mut y = Zeroizing::new(P::PolyVec::ZERO);
    let mut noise = backend.noise(r, 0..2 * P::K as u8 + 1);
    small_vector::<P>(backend, &mut noise, &mut y);
    let (t_hat, rho) = ek.as_chunks::<32>().0.split_at(P::K * POLY_LEN / 32);
    let [rho] = rho else { return };
    let mut c = Zeroizing::new(Poly::ZERO);
    let mut matrix = backend.matrix(rho, P::K, Orientation::Transposed);
    for i in 0..P::K as u8 {
        c.0.fill(0);
        for (j, y) in (0..).zip(y.as_ref()) {
            matrix.product(&mut c, [i, j], y);
        }
        backend.inverse_ntt(&mut c);
        Cbd::<2>::add(&mut noise, P::K as u8 + i, &mut c);
        backend.freeze(&mut c);
        P::Du::encode(backend, &c, sink);
    }
    c.0.fill(0);
    for (t, y) in t_hat.as_flattened().as_chunks().0.iter().zip(y.as_ref()) {
        backend.packed_basemul_acc(&mut c, t, y);
    }
    backend.inverse_ntt(&mut c);
    Cbd::<2>::add(&mut noise, 2 * P::K as u8, &mut c);
    backend.add_message(&mut c, m);
    backend.freeze(&mut c);
    P::Dv::encode(backend, &c, sink);
}

/// K-PKE.Decrypt with the 384 k bytes of `s_hat`.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn decrypt<P: Sizes>(backend: impl Backend, s_hat: &[u8], ct: &[u8], m: &mut [u8; 32]) {
    let u_len = 32 * P::Du::BITS;
    let (u_bytes, v_bytes) = ct.split_at(P::K * u_len);
    let (mut product, mut work) = (Zeroizing::new(Poly::ZERO), Zeroizing::new(Poly::ZERO));
    for (s_bytes, u_bytes) in s_hat.as_chunks().0.iter().zip(u_bytes.chunks_exact(u_len)) {
        P::Du::decode(backend, u_bytes, &mut work);
        backend.ntt(&mut work);
        backend.packed_basemul_acc(&mut product, s_bytes, &work);
    }
    backend.inverse_ntt(&mut product);
    P::Dv::decode(backend, v_bytes, &mut work);
    work.sub(&product);
    backend.freeze(&mut work);
    backend.message_of(&work, m);
}

/// k polynomials of the law eta1 with nonces 0 .. k, in the backend's form of T_q: s_hat or y_hat.
fn small_vector<P: Sizes>(backend: impl Backend, noise: &mut impl Noise, out: &mut P::PolyVec) {
    for (nonce, p) in (0..).zip(out.as_mut()) {
        P::Eta1::sample(noise, nonce, p);
        backend.ntt(p);
    }
}
