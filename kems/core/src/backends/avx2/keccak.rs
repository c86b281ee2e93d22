//! Keccak-f\[1600\] (FIPS 202 section 3), the same rounds on one state and on four side by side.

use core::arch::x86_64::{_mm256_set1_epi64x, _mm256_setzero_si256};

/// One round on the lanes of `a`, lane x + 5 y being A\[x, y\], with the operations of a module.
macro_rules! round {
    ($lane:ident, $a:ident, $constant:expr) => {{
        // theta
        let column = |x: usize| {
            let [top, bottom] = [$lane::xor($a[x], $a[x + 5]), $lane::xor($a[x + 10], $a[x + 15])];
            $lane::xor($lane::xor(top, bottom), $a[x + 20])
        };
        let c = [column(0), column(1), column(2), column(3), column(4)];
        let parity = |x: usize| $lane::xor(c[(x + 4) % 5], $lane::rotate::<1, 63>(c[(x + 1) % 5]));
        let d = [parity(0), parity(1), parity(2), parity(3), parity(4)];
        // rho and pi: row by row, the lane that comes there, turned
        macro_rules! moved {
            ($i:literal, $left:literal) => {
                $lane::rotate::<$left, { 64 - $left }>($lane::xor($a[$i], d[$i % 5]))
            };
        }
        let rows = [
            [
                $lane::xor($a[0], d[0]),
                moved!(6, 44),
                moved!(12, 43),
                moved!(18, 21),
                moved!(24, 14),
            ],
            [
                moved!(3, 28),
                moved!(9, 20),
                moved!(10, 3),
                moved!(16, 45),
                moved!(22, 61),
            ],
            [
                moved!(1, 1),
                moved!(7, 6),
                moved!(13, 25),
                moved!(19, 8),
                moved!(20, 18),
            ],
            [
                moved!(4, 27),
                moved!(5, 36),
                moved!(11, 10),
                moved!(17, 15),
                moved!(23, 56),
            ],
            [
                moved!(2, 62),
                moved!(8, 55),
                moved!(14, 39),
                moved!(15, 41),
                moved!(21, 2),
            ],
        ];
        // chi
        for y in 0..5 {
            for x in 0..5 {
                let masked = $lane::and_not(rows[y][(x + 1) % 5], rows[y][(x + 2) % 5]);
                $a[5 * y + x] = $lane::xor(rows[y][x], masked);
            }
        }
        // iota
        $a[0] = $lane::xor($a[0], $constant);
    }};
}
/// One state. The bit instructions rotate and mask without copies of their operands.
#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn one(lanes: &mut [u64; 25]) {
    let mut a = *lanes;
    for constant in ROUND_CONSTANTS {
        round!(word, a, constant);
    }
    *lanes = a;
}

/// Four states; `lanes[i]` holds lane i of each.
#[target_feature(enable = "avx2")]
pub(super) fn four(lanes: &mut [[u64; 4]; 25]) {
    let mut a = [_mm256_setzero_si256(); 25];
    for (a, lane) in a.iter_mut().zip(lanes.iter()) {
        *a = vector::load(lane);
    }
    for constant in ROUND_CONSTANTS {
        round!(vector, a, _mm256_set1_epi64x(constant as i64));
    }
    for (a, lane) in a.iter().zip(lanes) {
        vector::store(*a, lane);
    }
}

/// Operations on a lane of one state.
mod word {
    #[inline(always)]
    pub(super) fn xor(a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    pub(super) fn and_not(mask: u64, a: u64) -> u64 {
        !mask & a
    }

    #[inline(always)]
    pub(super) fn rotate<const LEFT: i32, const RIGHT: i32>(a: u64) -> u64 {
        const { assert!(LEFT + RIGHT == 64) };
        a.rotate_left(LEFT as u32)
    }
}

/// The same on the lane of four states.
mod vector {
    use core::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256,
    };
    pub(super) use core::arch::x86_64::{_mm256_andnot_si256 as and_not, _mm256_xor_si256 as xor};

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rotate<const LEFT: i32, const RIGHT: i32>(a: __m256i) -> __m256i {
        const { assert!(LEFT + RIGHT == 64) };
        _mm256_or_si256(_mm256_slli_epi64::<LEFT>(a), _mm256_srli_epi64::<RIGHT>(a))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load(lane: &[u64; 4]) -> __m256i {
        // SAFETY: reads 32 bytes at any address, as many as `lane` has.
        unsafe { _mm256_loadu_si256(lane.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn store(a: __m256i, lane: &mut [u64; 4]) {
        // SAFETY: writes 32 bytes at any address, as many as `lane` has.
        unsafe { _mm256_storeu_si256(lane.as_mut_ptr().cast(), a) }
    }
}

/// RC of the 24 rounds (section 3.2.5).
const ROUND_CONSTANTS: [u64; 24] = {
    let mut constants = [0; 24];
    // The generator of rc(t): x^8 + x^6 + x^5 + x^4 + 1, bit 0 of the register being its output.
    let (mut register, mut t) = (1u8, 0);
    while t < 7 * 24 {
        let (round, j) = (t / 7, t % 7);
        constants[round] |= ((register & 1) as u64) << ((1 << j) - 1);
        let carry = register >> 7;
        register = (register << 1) ^ (carry * 0x71);
        t += 1;
    }
    constants
};
