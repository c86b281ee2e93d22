//! The attacks on the submitted decapsulation, which exists here only, and tests that need private items.

use std::vec;
use std::vec::Vec;

use kem_core::rand_core::{TryCryptoRng, TryRng};
use kem_core::testkit::{File, Hex, KatDrbg, Vector};
use serde::Deserialize;

use super::*;
use crate::lab::{N648, N1296, N2592};

/// Decapsulation by the submitted rule, in exact arithmetic: what it leaves in the caller's buffer, and whether it reports
/// success. Fields of any value count modulo q; s only has to be short; the message of the encryption mode is not looked at;
/// the buffer is filled in any case. `None` where the submitted code reads short values out of range.
fn submitted_decapsulation<P: Params>(dk: &P::Dk, ct: &P::Ct) -> (bool, Option<P::Ss>) {
    let (f, rest) = dk.as_ref().split_at(poly_len::<P>());
    let (h_inverse, rest) = rest.split_at(poly_len::<P>());
    let ek_digest = &rest[..P::Tag::LEN];
    let (c_bytes, tag) = ct.as_ref().split_at(poly_len::<P>());

    let c: Vec<_> = decode::<P>(c_bytes).collect();
    let mut e = c.clone();
    leaf::multiply::<P>(&mut e, decode::<P>(f));
    ntt::inverse::<P>(&mut e, P::to_montgomery(P::ONE));
    e.iter_mut().for_each(|e| *e = modulo_3(smallest::<P>(*e)));
    let mut e_short = P::Short::ZERO;
    e.iter()
        .enumerate()
        .for_each(|(at, &e)| put_short(e_short.as_mut(), at, e));

    ntt::forward::<P>(&mut e);
    let mut s: Vec<_> = c.iter().zip(&e).map(|(c, e)| P::centre(c - e)).collect();
    leaf::multiply::<P>(&mut s, decode::<P>(h_inverse));
    ntt::inverse::<P>(&mut s, P::ONE);
    if s.iter().any(|s| s.abs() > 1) {
        return (false, None);
    }
    let mut s_short = P::Short::ZERO;
    s.iter()
        .enumerate()
        .for_each(|(at, &s)| put_short(s_short.as_mut(), at, s));

    // Some message explains s if s + b is a bit, b the subtracted bit of every coefficient.
    let mut r = P::Short::ZERO;
    Iccs::xof(&[&[MASK], e_short.as_ref()]).read(r.as_mut());
    r.as_mut()[..P::Short::LEN / 2].fill(0);
    let mut message = true;
    sample::short::<P>(r.as_ref(), |at, minus_b| message &= [0, 1].contains(&(s[at] - minus_b)));

    let (mut expected, mut ss) = (P::Tag::ZERO, P::Ss::ZERO);
    let mut hash = Iccs::xof(&[&[SECRET], ek_digest, s_short.as_ref(), e_short.as_ref()]);
    hash.read(expected.as_mut());
    hash.read(ss.as_mut());
    (message && expected.as_ref() == tag, Some(ss))
}

macro_rules! for_every_set {
    ($($test:ident => $check:ident;)*) => {
        $(
            #[test]
            fn $test() {
                $check::<N648>(include_str!("../../../tests/vectors/648.json"));
                $check::<N1296>(include_str!("../../../tests/vectors/1296.json"));
                $check::<N2592>(include_str!("../../../tests/vectors/2592.json"));
            }
        )*
    };
}

for_every_set! {
    intermediate_values => trace;
    the_submitted_rule_is_the_one_attacked => submitted_rule;
    one_query_on_an_alias_breaks_the_submitted_decapsulation_only => alias_attack;
    a_rejected_tag_leaves_the_key_behind_in_the_submitted_decapsulation_only => buffer_attack;
    centred_and_modulo_3 => residues;
    generation_draws_again_what_is_not_invertible => redraw;
}

fn first_vector(json: &str) -> Vector {
    serde_json::from_str::<File>(json)
        .expect("vector file parses")
        .vectors
        .remove(0)
}

fn stored_dk(v: &Vector) -> &[u8] {
    v.dk.as_ref().expect("no digest in its place")
}

fn sized<B: Bytes>(bytes: &[u8]) -> &B {
    B::from_slice(bytes).expect("right length")
}

fn trace<P: Params>(json: &str) {
    #[derive(Deserialize)]
    struct Trace {
        pk_digest: Hex,
        e_short: Hex,
        mask: Hex,
        s_short: Hex,
        sigma: Hex,
    }
    let v = first_vector(json);
    let theirs: Trace = serde_json::from_value(v.extra.clone()).expect("a trace");
    let short = |bytes: &[u8]| {
        let mut packed = vec![0; bytes.len()];
        sample::short::<P>(bytes, |at, c| put_short(&mut packed, at, c));
        packed
    };
    let mut ek_digest = vec![0; P::Tag::LEN];
    Iccs::digest(&[&[KEY], &v.ek], &mut ek_digest);
    assert_eq!(ek_digest, theirs.pk_digest[..]);
    assert_eq!(short(&v.encaps_coins), theirs.e_short[..]);
    let mut r = vec![0; P::Short::LEN];
    Iccs::xof(&[&[MASK], &theirs.e_short]).read(&mut r);
    assert_eq!(r, theirs.mask[..]);
    assert_eq!(short(&r), theirs.s_short[..]);
    assert_eq!(v.ct[poly_len::<P>()..], theirs.sigma[..]);
}

/// [`submitted_decapsulation`] does with six altered ciphertexts what the model of the submission does.
fn submitted_rule<P: Params>(json: &str) {
    #[derive(Deserialize)]
    struct Submitted {
        accepts: bool,
        ss: Option<Hex>,
    }
    let v = first_vector(json);
    let submitted: Vec<Submitted> = serde_json::from_value(v.extra["submitted"].clone()).expect("six cases");
    assert_eq!((v.reject.len(), submitted.len()), (6, 6));
    for (case, theirs) in v.reject.iter().zip(&submitted) {
        let ct = case.how.apply(&v.ct);
        let (accepts, ss) = submitted_decapsulation::<P>(sized(stored_dk(&v)), sized(&ct));
        assert_eq!(accepts, theirs.accepts, "{:?}", case.how);
        assert_eq!(ss.as_ref().map(AsRef::as_ref), theirs.ss.as_deref(), "{:?}", case.how);
    }
    let (accepts, ss) = submitted_decapsulation::<P>(sized(stored_dk(&v)), sized(&v.ct));
    assert_eq!((accepts, ss.as_ref().map(AsRef::as_ref)), (true, Some(&v.ss[..])));
}

/// A challenge for the key of the first vector.
fn challenge<P: Params>(v: &Vector, rng: &mut KatDrbg) -> (P::Ct, P::Ss) {
    let (mut ct, mut ss) = (P::Ct::ZERO, Secret::<P>::zeroed());
    let ek = EncapsulationKey::<P>::parse(&v.ek).expect("canonical");
    OaepNtru::<P>::encapsulate(rng, &ek, &mut ct, &mut ss);
    (ct, copied(ss.expose()))
}

fn copied<B: Bytes>(bytes: &B) -> B {
    let mut copy = B::ZERO;
    copy.as_mut().copy_from_slice(bytes.as_ref());
    copy
}

/// `ct` with `addend` added to field `at`.
fn with_field_raised<P: Params>(ct: &P::Ct, at: usize, addend: u16) -> P::Ct {
    let mut raised = copied(ct);
    let fields: Vec<_> = P::unpack(&ct.as_ref()[..poly_len::<P>()]).collect();
    let changed = fields
        .iter()
        .enumerate()
        .map(|(i, &field)| if i == at { field + addend } else { field });
    P::pack(changed, &mut Emit::new(&mut raised.as_mut()[..poly_len::<P>()]));
    raised
}

/// The fields of `ct` that have room for q (and one more).
fn liftable<P: Params>(ct: &P::Ct) -> Vec<usize> {
    let room = (1u32 << P::CB) - u32::from(P::Q as u16) - 1;
    let fields = P::unpack(&ct.as_ref()[..poly_len::<P>()]).enumerate();
    fields
        .filter(|&(_, field)| u32::from(field) < room)
        .map(|(at, _)| at)
        .collect()
}

fn our_decapsulation<P: Params>(dk: &[u8], ct: &P::Ct) -> P::Ss {
    let mut ss = Secret::<P>::zeroed();
    OaepNtru::<P>::decapsulate(sized(dk), ct, &mut ss);
    copied(ss.expose())
}

/// Section 9.1 of the analysis: q added to one field of the challenge, one query, the challenge's key.
fn alias_attack<P: Params>(json: &str) {
    let (v, mut rng) = (first_vector(json), KatDrbg::master());
    for _ in 0..8 {
        let (ct, ss) = challenge::<P>(&v, &mut rng);
        let fields = liftable::<P>(&ct);
        assert!(!fields.is_empty());
        for at in fields.into_iter().step_by(P::N / 16) {
            let alias = with_field_raised::<P>(&ct, at, P::Q as u16);
            assert_ne!(alias.as_ref(), ct.as_ref());
            let (accepts, stolen) = submitted_decapsulation::<P>(sized(stored_dk(&v)), &alias);
            assert!(accepts);
            assert_eq!(stolen.as_ref().map(AsRef::as_ref), Some(ss.as_ref()));
            let ours = our_decapsulation::<P>(stored_dk(&v), &alias);
            assert_ne!(ours.as_ref(), ss.as_ref());

            // The control: q + 1 is another ciphertext for both.
            let other = with_field_raised::<P>(&ct, at, P::Q as u16 + 1);
            assert!(!submitted_decapsulation::<P>(sized(stored_dk(&v)), &other).0);
            assert_ne!(our_decapsulation::<P>(stored_dk(&v), &other).as_ref(), ss.as_ref());
        }
        assert_eq!(our_decapsulation::<P>(stored_dk(&v), &ct).as_ref(), ss.as_ref());
    }
}

/// Section 9.2 of the analysis: a flipped bit of the tag is reported, and the key is in the buffer all the same.
fn buffer_attack<P: Params>(json: &str) {
    let (v, mut rng) = (first_vector(json), KatDrbg::master());
    let (mut ct, ss) = challenge::<P>(&v, &mut rng);
    for at in poly_len::<P>()..P::Ct::LEN {
        ct.as_mut()[at] ^= 1;
        let (accepts, buffer) = submitted_decapsulation::<P>(sized(stored_dk(&v)), &ct);
        assert!(!accepts);
        assert_eq!(buffer.as_ref().map(AsRef::as_ref), Some(ss.as_ref()));
        assert_ne!(our_decapsulation::<P>(stored_dk(&v), &ct).as_ref(), ss.as_ref());
        ct.as_mut()[at] ^= 1;
    }
}

fn residues<P: Params>(_: &str) {
    for c in i16::MIN..=i16::MAX {
        let small = smallest::<P>(c);
        assert_eq!(
            i32::from(small).rem_euclid(P::Q.into()),
            i32::from(c).rem_euclid(P::Q.into())
        );
        assert!(small.abs() <= (P::Q - 1) / 2);
        let trit = modulo_3(small);
        assert!(trit.abs() <= 1);
        assert_eq!(trit.rem_euclid(3), small.rem_euclid(3));
    }
}

/// f of the first vector, then a zero where g should be, twice; g of the first vector, z.
fn redraw<P: Params>(json: &str) {
    let v = first_vector(json);
    let (f, rest) = v.keygen_coins.split_at(P::Short::LEN);
    let (g, z) = rest.split_at(P::Short::LEN);
    let zero = vec![0; P::Short::LEN];
    let mut rng = Script(vec![f.to_vec(), zero.clone(), zero, g.to_vec(), z.to_vec()]);
    let (mut ek, mut dk) = (P::Ek::ZERO, P::Dk::ZERO);
    OaepNtru::<P>::generate(&mut rng, &mut ek, &mut dk).expect("the fourth draw is invertible");
    assert!(rng.0.is_empty());
    assert_eq!((ek.as_ref(), dk.as_ref()), (&v.ek[..], stored_dk(&v)));

    let mut coins = copied::<P::KeygenCoins>(sized(&v.keygen_coins));
    coins.as_mut()[P::Short::LEN..][..P::Short::LEN].fill(0);
    assert_eq!(
        OaepNtru::<P>::generate_from(&coins, &mut ek, &mut dk),
        Err(NotInvertible)
    );
    assert!(ek.as_ref().iter().chain(dk.as_ref()).all(|&byte| byte == 0));

    // f is 1 with a dead generator; g is zero and stays so.
    dk.as_mut().fill(0xa5);
    let mut dead = Script(vec![vec![0; P::Short::LEN]; 65]);
    assert_eq!(OaepNtru::<P>::generate(&mut dead, &mut ek, &mut dk), Err(NotInvertible));
    assert!(dead.0.is_empty());
    assert!(dk.as_ref().iter().all(|&byte| byte == 0));
}

/// A generator that gives the listed bytes, one request after another.
struct Script(Vec<Vec<u8>>);

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("only bytes are asked for")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("only bytes are asked for")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.0.remove(0));
        Ok(())
    }
}

impl TryCryptoRng for Script {}
