//! The public matrix and noise from four streams at a time, drawn ahead in the order in which they are asked for.

use core::ops::Range;

use kem_core::Avx2;
use kem_core::hash::{Shake128, Shake128x4, Shake256, Shake256x4, XofReader};
use zeroize::{Zeroize, Zeroizing};

use super::noise::{add_2, add_3};
use super::product;
use super::uniform::{self, Entry};
use crate::poly::{N, Poly};
use crate::sample::{self, Orientation};

/// A square of entries, of which up to four are there.
pub struct Matrix<'a> {
    avx2: Avx2,
    rho: &'a [u8; 32],
    k: usize,
    orientation: Orientation,
    /// The entries in `batch`, counted row by row.
    drawn: Range<usize>,
    batch: [Entry; 4],
}

impl<'a> Matrix<'a> {
    pub(super) fn new(avx2: Avx2, rho: &'a [u8; 32], k: usize, orientation: Orientation) -> Self {
        Self {
            avx2,
            rho,
            k,
            orientation,
            drawn: 0..0,
            batch: [uniform::NONE; 4],
        }
    }

    /// Fills the batch, from this entry on.
    fn draw(&mut self, first: usize) {
        self.drawn = first..self.k.pow(2).min(first + 4);
        let seeds: [[u8; 34]; 4] = core::array::from_fn(|i| {
            let place = first + i;
            with_index(
                self.rho,
                self.orientation.index([(place / self.k) as u8, (place % self.k) as u8]),
            )
        });
        let mut blocks = [[0; 168]; 4];
        if let [entry, ..] = &mut self.batch
            && self.drawn.len() == 1
        {
            Shake128::read_with(&[&seeds[0]], |stream| {
                let mut taken = 0;
                while taken < N {
                    stream.read(&mut blocks[0]);
                    taken = append(self.avx2, &blocks[0], entry, taken);
                }
            });
            return;
        }
        let mut streams = Shake128x4::absorb(&seeds);
        let mut taken = [0; 4];
        while taken.iter().any(|&taken| taken < N) {
            streams.squeeze(blocks.each_mut());
            for ((block, entry), taken) in blocks.iter().zip(&mut self.batch).zip(&mut taken) {
                *taken = append(self.avx2, block, entry, *taken);
            }
        }
    }
}

impl sample::Matrix for Matrix<'_> {
    fn product(&mut self, acc: &mut Poly, [i, j]: [u8; 2], b: &Poly) {
        let place = self.k * usize::from(i) + usize::from(j);
        if !self.drawn.contains(&place) {
            self.draw(place);
        }
        let entry = &self.batch[place - self.drawn.start];
        // SAFETY: the token proves AVX2.
        unsafe { product::accumulate(&mut acc.0, &entry[..N], &b.0, 0) }
    }
}

/// Polynomials of successive nonces, of which the bytes of up to four are there. Wiped on drop.
pub struct Noise<'a> {
    avx2: Avx2,
    seed: &'a [u8; 32],
    end: u8,
    /// The nonces in `batch`.
    drawn: Range<u8>,
    blocks: usize,
    batch: [[[u8; 136]; 2]; 4],
}

impl<'a> Noise<'a> {
    pub(super) fn new(avx2: Avx2, seed: &'a [u8; 32], nonces: Range<u8>) -> Self {
        Self {
            avx2,
            seed,
            end: nonces.end,
            drawn: 0..0,
            blocks: 0,
            batch: [[[0; 136]; 2]; 4],
        }
    }

    /// Fills the batch with so many blocks of each stream, from this nonce on.
    fn draw(&mut self, first: u8, blocks: usize) {
        self.drawn = first..self.end.min(first + 4);
        self.blocks = blocks;
        let seeds = Zeroizing::new([0, 1, 2, 3].map(|i| with_index::<1, 33>(self.seed, [first + i])));
        if self.drawn.len() == 1 {
            Shake256::digest(&[&seeds[0]], self.batch[0][..blocks].as_flattened_mut());
            return;
        }
        let mut streams = Shake256x4::absorb(&seeds);
        for block in 0..blocks {
            streams.squeeze(self.batch.each_mut().map(|stream| &mut stream[block]));
        }
    }
}

impl sample::Noise for Noise<'_> {
    fn add<const ETA: usize>(&mut self, nonce: u8, out: &mut Poly) {
        let blocks = (64 * ETA).div_ceil(136);
        if !self.drawn.contains(&nonce) || blocks > self.blocks {
            self.draw(nonce, blocks);
        }
        let bytes = self.batch[usize::from(nonce - self.drawn.start)].as_flattened();
        add::<ETA>(self.avx2, bytes, out);
    }
}

impl Drop for Noise<'_> {
    fn drop(&mut self) {
        self.batch.as_flattened_mut().as_flattened_mut().zeroize();
    }
}

fn add<const ETA: usize>(_: Avx2, bytes: &[u8], out: &mut Poly) {
    const { assert!(ETA == 2 || ETA == 3) };
    // SAFETY: the token proves AVX2.
    unsafe {
        match ETA {
            2 => bytes.first_chunk().map(|bytes| add_2(&mut out.0, bytes)),
            _ => bytes.first_chunk().map(|bytes| add_3(&mut out.0, bytes)),
        };
    }
}

fn append(_: Avx2, block: &[u8; 168], entry: &mut Entry, taken: usize) -> usize {
    // SAFETY: the token proves AVX2 and POPCNT.
    unsafe { uniform::append(block, entry, taken) }
}

/// A seed and what tells its streams apart.
fn with_index<const INDEX: usize, const LEN: usize>(seed: &[u8; 32], index: [u8; INDEX]) -> [u8; LEN] {
    const { assert!(LEN == 32 + INDEX) };
    let mut whole = [0; LEN];
    whole[..32].copy_from_slice(seed);
    whole[32..].copy_from_slice(&index);
    whole
}
