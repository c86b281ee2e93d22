//! K-PKE (FIPS 203 section 5), with one entry of the matrix at a time. On AVR its functions are not inlined, so that their
//! polynomials leave the stack before the hashes after them; other compilers share the places by themselves.

use kem_core::ct::{CtSink, Emit};
use zeroize::Zeroizing;

use crate::backends::{Arith, convert};
use crate::compress::Width;
use crate::params::Sizes;
use crate::poly::{POLY_LEN, Poly, PolyVec};
use crate::sample::{Cbd, Eta, matrix_product, packed_product};

/// K-PKE.KeyGen from line 3 on: `t_hat` | `rho` is the encryption key, `s_hat` the decryption key, both of 384 k bytes.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn keygen<P: Sizes>(
    arith: impl Arith,
    rho: &[u8; 32],
    sigma: &[u8; 32],
    t_hat: &mut [u8],
    s_hat: &mut [u8],
) {
    let mut s = Zeroizing::new(P::PolyVec::ZERO);
    small_vector::<P>(arith, sigma, &mut s);
    let mut out = Emit::new(s_hat);
    for s in s.as_mut() {
        arith.standard(s);
        s.encode(&mut out);
    }

    let mut out = Emit::new(t_hat);
    let mut t = Zeroizing::new(Poly::ZERO);
    for i in 0..P::K as u8 {
        P::Eta1::sample(sigma, P::K as u8 + i, &mut t);
        arith.ntt(&mut t);
        arith.lift(&mut t);
        for (j, s) in (0..).zip(s.as_ref()) {
            matrix_product(arith, &mut t, rho, [i, j], s);
        }
        arith.standard_sum(&mut t);
        t.encode(&mut out);
    }
}

/// K-PKE.Encrypt: `ek` is t_hat | rho, the ciphertext goes to `sink`.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn encrypt<P: Sizes>(arith: impl Arith, ek: &[u8], m: &[u8; 32], r: &[u8; 32], sink: &mut impl CtSink) {
    let mut y = Zeroizing::new(P::PolyVec::ZERO);
    small_vector::<P>(arith, r, &mut y);
    let (t_hat, rho) = ek.as_chunks::<32>().0.split_at(P::K * POLY_LEN / 32);
    let [rho] = rho else { return };
    let mut c = Zeroizing::new(Poly::ZERO);
    for i in 0..P::K as u8 {
        c.0.fill(0);
        for (j, y) in (0..).zip(y.as_ref()) {
            // The transposed matrix.
            matrix_product(arith, &mut c, rho, [j, i], y);
        }
        arith.inverse_ntt(&mut c);
        Cbd::<2>::add(r, P::K as u8 + i, &mut c);
        arith.freeze(&mut c);
        P::Du::encode(&c, sink);
    }
    c.0.fill(0);
    for (t, y) in t_hat.as_flattened().chunks_exact(POLY_LEN).zip(y.as_ref()) {
        packed_product(arith, &mut c, t, y);
    }
    arith.inverse_ntt(&mut c);
    Cbd::<2>::add(r, 2 * P::K as u8, &mut c);
    convert::add_message(&mut c.0, m);
    arith.freeze(&mut c);
    P::Dv::encode(&c, sink);
}

/// K-PKE.Decrypt with the 384 k bytes of `s_hat`.
#[cfg_attr(target_arch = "avr", inline(never))]
pub(crate) fn decrypt<P: Sizes>(arith: impl Arith, s_hat: &[u8], ct: &[u8], m: &mut [u8; 32]) {
    let u_len = 32 * P::Du::BITS;
    let (u_bytes, v_bytes) = ct.split_at(P::K * u_len);
    let (mut product, mut work) = (Zeroizing::new(Poly::ZERO), Zeroizing::new(Poly::ZERO));
    for (s_bytes, u_bytes) in s_hat.chunks_exact(POLY_LEN).zip(u_bytes.chunks_exact(u_len)) {
        P::Du::decode(u_bytes, &mut work);
        arith.ntt(&mut work);
        packed_product(arith, &mut product, s_bytes, &work);
    }
    arith.inverse_ntt(&mut product);
    P::Dv::decode(v_bytes, &mut work);
    work.sub(&product);
    arith.freeze(&mut work);
    convert::message_of(&work.0, m);
}

/// k polynomials of the law eta1 with nonces 0 .. k, in the backend's form of T_q: s_hat or y_hat.
fn small_vector<P: Sizes>(arith: impl Arith, seed: &[u8; 32], out: &mut P::PolyVec) {
    for (nonce, p) in (0..).zip(out.as_mut()) {
        P::Eta1::sample(seed, nonce, p);
        arith.ntt(p);
    }
}
