//! Saber.PKE (section 2.4): key generation, encryption into a [`CtSink`], decryption.
//!
//! The matrix never exists: its polynomials are used in the order in which they leave the stream, which is row by row.

use kem_core::ct::{CtSink, Emit};
use kem_core::hash::Shake128;
use zeroize::Zeroizing;

use crate::backends::{Arith, decode_centred, decode_message, decode_secret, encode_message, encode_q, encode_rounded};
use crate::params::Params;
use crate::poly::{N, P_LEN, Q_LEN};
use crate::sample::{Matrix, Secrets};

/// Writes pack10(b), seed_A to `ek` and pack13(s) to `secret`, b = round(A^T s).
///
/// `seed_a_raw` is hashed before use, so that a generator's raw output never is public; `seed_s` is not.
pub(crate) fn keygen<P: Params, M: Arith>(
    arith: M,
    seed_a_raw: &[u8; 32],
    seed_s: &[u8; 32],
    ek: &mut P::Ek,
    secret: &mut [u8],
) {
    let mut seed_a = [0; 32];
    Shake128::digest(&[seed_a_raw], &mut seed_a);
    let (mut matrix, mut secrets) = (Matrix::new(&seed_a), Secrets::new(seed_s));
    let mut b = Zeroizing::new(P::vector(M::SUM));
    let mut hat = Zeroizing::new(M::SECRET);
    let mut p = Zeroizing::new([0; N]);
    // Row j of A meets s_j in every b_i: the transpose is in the order of summation.
    for bytes in secret.chunks_exact_mut(Q_LEN) {
        secrets.next::<P>(&mut p);
        encode_q(&p, &mut Emit::new(bytes));
        arith.secret(&p, &mut hat);
        for sum in b.as_mut() {
            matrix.next(&mut p);
            arith.mul_acc(sum, &p, &hat);
        }
    }
    let mut sink = Emit::new(ek.as_mut());
    for sum in b.as_mut() {
        arith.finish(sum, &mut p);
        encode_rounded(&p, &mut sink);
    }
    seed_a.iter().for_each(|&byte| sink.put(byte));
}

/// Encrypts `m` with the randomness `r`: writes pack10(b') and then pack(c_m), b' = round(A s').
pub(crate) fn encrypt<P: Params, M: Arith>(arith: M, m: &[u8; 32], r: &[u8; 32], ek: &P::Ek, ct: &mut impl CtSink) {
    let (b, seed_a) = split_ek::<P>(ek);
    let mut s = Zeroizing::new(P::vector(M::SECRET));
    let mut p = Zeroizing::new([0; N]);
    let mut secrets = Secrets::new(r);
    for hat in s.as_mut() {
        secrets.next::<P>(&mut p);
        arith.secret(&p, hat);
    }
    let mut sum = Zeroizing::new(M::SUM);
    let mut matrix = Matrix::new(seed_a);
    for _ in 0..P::RANK {
        for hat in s.as_ref() {
            matrix.next(&mut p);
            arith.mul_acc(&mut sum, &p, hat);
        }
        arith.finish(&mut sum, &mut p);
        encode_rounded(&p, ct);
    }
    for (bytes, hat) in b.chunks_exact(P_LEN).zip(s.as_ref()) {
        decode_centred::<10>(bytes, &mut *p);
        arith.mul_acc(&mut sum, &p, hat);
    }
    arith.finish(&mut sum, &mut p);
    encode_message::<P>(&p, m, ct);
}

/// Decrypts with s in the 13-bit encoding. Any `ct` gives some message.
pub(crate) fn decrypt<P: Params, M: Arith>(arith: M, secret: &[u8], ct: &P::Ct, m: &mut [u8; 32]) {
    let (b, cm) = ct.as_ref().split_at(P::RANK * P_LEN);
    let mut sum = Zeroizing::new(M::SUM);
    let mut hat = Zeroizing::new(M::SECRET);
    let mut p = Zeroizing::new([0; N]);
    for (b, s) in b.chunks_exact(P_LEN).zip(secret.chunks_exact(Q_LEN)) {
        decode_secret(s, &mut *p);
        arith.secret(&p, &mut hat);
        decode_centred::<10>(b, &mut *p);
        arith.mul_acc(&mut sum, &p, &hat);
    }
    arith.finish(&mut sum, &mut p);
    decode_message::<P>(&p, cm, &mut Emit::new(m));
}

/// b in its encoding, and seed_A.
fn split_ek<P: Params>(ek: &P::Ek) -> (&[u8], &[u8; 32]) {
    ek.as_ref()
        .split_last_chunk()
        .expect("an encapsulation key is longer than a seed")
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use kem_core::Bytes;

    use super::*;
    use crate::backends::NATIVE;
    use crate::backends::tests::schoolbook;
    use crate::params::{Rank2, Rank3, Rank4};
    use crate::poly::{N, Poly};

    const R: [u8; 32] = [0x3c; 32];

    /// round(A^T s) for a key, round(A s) in a ciphertext. Both transposed, or neither, would agree with itself.
    #[test]
    fn only_key_generation_transposes() {
        fn check<P: Params>() {
            let (mut ek, mut ct, mut secret) = (P::Ek::ZERO, P::Ct::ZERO, [0; 4 * Q_LEN]);
            keygen::<P, _>(NATIVE, &[0x5a; 32], &R, &mut ek, &mut secret[..P::RANK * Q_LEN]);
            encrypt::<P, _>(NATIVE, &[0; 32], &R, &ek, &mut Emit::new(ct.as_mut()));

            let (mut matrix, mut secrets) = (Matrix::new(split_ek::<P>(&ek).1), Secrets::new(&R));
            let a: Vec<Poly> = (0..P::RANK * P::RANK).map(|_| poly(|p| matrix.next(p))).collect();
            let s: Vec<Poly> = (0..P::RANK).map(|_| poly(|p| secrets.next::<P>(p))).collect();
            for i in 0..P::RANK {
                let row: Vec<_> = (0..P::RANK).map(|j| (a[i * P::RANK + j], s[j])).collect();
                let column: Vec<_> = (0..P::RANK).map(|j| (a[j * P::RANK + i], s[j])).collect();
                let [row, column] = [row, column].map(|terms| rounded(&schoolbook(&terms)));
                assert_ne!(row, column);
                assert_eq!(ek.as_ref()[i * P_LEN..][..P_LEN], column);
                assert_eq!(ct.as_ref()[i * P_LEN..][..P_LEN], row);
            }
        }
        check::<Rank2>();
        check::<Rank3>();
        check::<Rank4>();
    }

    fn poly(fill: impl FnOnce(&mut Poly)) -> Poly {
        let mut p = [0; N];
        fill(&mut p);
        p
    }

    /// ((c + 4) mod 2^13) >> 3 in 10 bits.
    fn rounded(p: &[i64; N]) -> Vec<u8> {
        let value = |c: &i64| ((c + 4).rem_euclid(1 << 13) >> 3) as u16;
        let bits: Vec<_> = p
            .iter()
            .flat_map(|c| (0..10).map(move |i| (value(c) >> i & 1) as u8))
            .collect();
        bits.chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit))
            .collect()
    }
}
