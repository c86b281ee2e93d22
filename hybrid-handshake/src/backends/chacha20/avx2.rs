//! Eight blocks side by side: register `i` holds word `i` of each, so that a quarter round is four of each operation.
#![allow(unsafe_code)]

use core::{
    arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_setr_epi8,
        _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
        _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256,
    },
    array,
};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{BLOCK_LEN, KeyStream, STEP_LEN};

/// A key stream, and the proof that this processor has AVX2: only [`Avx2::new`] makes one.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Avx2 {
    key: [u32; 8],
    nonce: [u32; 3],
    counter: u32,
}

impl Avx2 {
    /// `None` without AVX2.
    pub(crate) fn new(key: &[u8; 32], nonce: &[u8; 12]) -> Option<Self> {
        let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        let (mut key_words, mut nonce_words) = ([0; 8], [0; 3]);
        key_words
            .iter_mut()
            .zip(key.as_chunks().0)
            .for_each(|(to, from)| *to = word(from));
        nonce_words
            .iter_mut()
            .zip(nonce.as_chunks().0)
            .for_each(|(to, from)| *to = word(from));
        cpu::get().then_some(Self {
            key: key_words,
            nonce: nonce_words,
            counter: 0,
        })
    }
}

impl KeyStream for Avx2 {
    fn next(&mut self, out: &mut [u8; STEP_LEN], meanwhile: impl FnMut(usize)) {
        // SAFETY: `self` proves AVX2. Twin: `Portable::next`.
        unsafe { step(self, out, meanwhile) }
        self.counter = self.counter.wrapping_add(8);
    }
}

cpufeatures::new!(cpu, "avx2");

/// The same row of the states of all blocks.
type Row = [__m256i; 4];

/// Eight blocks from the counter on (RFC 8439 section 2.3).
#[target_feature(enable = "avx2")]
fn step(stream: &Avx2, out: &mut [u8; STEP_LEN], mut meanwhile: impl FnMut(usize)) {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = stream.key.map(|word| all(word));
    let [n0, n1, n2] = stream.nonce.map(|word| all(word));
    let counters = _mm256_add_epi32(all(stream.counter), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let start = [
        CONSTANTS.map(|word| all(word)),
        [k0, k1, k2, k3],
        [k4, k5, k6, k7],
        [counters, n0, n1, n2],
    ];
    let mut state = start;
    for round in 0..10 {
        meanwhile(round);
        state = quarter_rounds(state);
        let [a, [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]] = state;
        let [a, [b1, b2, b3, b0], [c2, c3, c0, c1], [d3, d0, d1, d2]] =
            quarter_rounds([a, [b1, b2, b3, b0], [c2, c3, c0, c1], [d3, d0, d1, d2]]);
        state = [a, [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]];
    }
    let [a, b, c, d] = array::from_fn(|i| array::from_fn(|j| _mm256_add_epi32(state[i][j], start[i][j])));
    let (first, second) = (transpose(a, b), transpose(c, d));
    let (blocks, _) = out.as_chunks_mut::<BLOCK_LEN>();
    for ((block, first), second) in blocks.iter_mut().zip(first).zip(second) {
        let place: *mut __m256i = block.as_mut_ptr().cast();
        // SAFETY: a block has room for two registers, and the store wants no alignment.
        unsafe {
            _mm256_storeu_si256(place, first);
            _mm256_storeu_si256(place.add(1), second);
        }
    }
}

/// Quarter rounds on all four columns, two at a time: more would not fit into the registers.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter_rounds([a, b, c, d]: [Row; 4]) -> [Row; 4] {
    let [a0, b0, c0, d0, a1, b1, c1, d1] = two_quarter_rounds([a[0], b[0], c[0], d[0], a[1], b[1], c[1], d[1]]);
    let [a2, b2, c2, d2, a3, b3, c3, d3] = two_quarter_rounds([a[2], b[2], c[2], d[2], a[3], b[3], c[3], d[3]]);
    [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]]
}

/// RFC 8439 section 2.1, twice in step.
#[inline]
#[target_feature(enable = "avx2")]
fn two_quarter_rounds([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
    let (a, e) = (_mm256_add_epi32(a, b), _mm256_add_epi32(e, f));
    let (d, h) = (rotate16(_mm256_xor_si256(d, a)), rotate16(_mm256_xor_si256(h, e)));
    let (c, g) = (_mm256_add_epi32(c, d), _mm256_add_epi32(g, h));
    let (b, f) = (
        rotate::<12, 20>(_mm256_xor_si256(b, c)),
        rotate::<12, 20>(_mm256_xor_si256(f, g)),
    );
    let (a, e) = (_mm256_add_epi32(a, b), _mm256_add_epi32(e, f));
    let (d, h) = (rotate8(_mm256_xor_si256(d, a)), rotate8(_mm256_xor_si256(h, e)));
    let (c, g) = (_mm256_add_epi32(c, d), _mm256_add_epi32(g, h));
    let (b, f) = (
        rotate::<7, 25>(_mm256_xor_si256(b, c)),
        rotate::<7, 25>(_mm256_xor_si256(f, g)),
    );
    [a, b, c, d, e, f, g, h]
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate16(x: __m256i) -> __m256i {
    let order = _mm256_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
    );
    _mm256_shuffle_epi8(x, order)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate8(x: __m256i) -> __m256i {
    let order = _mm256_setr_epi8(
        3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14,
    );
    _mm256_shuffle_epi8(x, order)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(x: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
}

/// Eight words of eight blocks, register by word, to register by block.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: Row, [e, f, g, h]: Row) -> [__m256i; 8] {
    let (low, high) = (transpose_half([a, b, c, d]), transpose_half([e, f, g, h]));
    array::from_fn(|i| {
        let (low, high) = (low[i % 4], high[i % 4]);
        if i < 4 {
            _mm256_permute2x128_si256::<0x20>(low, high)
        } else {
            _mm256_permute2x128_si256::<0x31>(low, high)
        }
    })
}

/// Four words: register i then has those of block i, and of block i + 4 in its upper half.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_half([a, b, c, d]: Row) -> Row {
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_next, cd_next) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_next, cd_next),
        _mm256_unpackhi_epi64(ab_next, cd_next),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn all(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
