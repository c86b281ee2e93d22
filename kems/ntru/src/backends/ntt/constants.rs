//! The prime and powers of a root of unity modulo it, times 2^32 (Montgomery).

/// 5.84 P are 2^31, and 256 divides P - 1.
pub(in crate::backends) const P: i32 = 367_537_153;

/// psi^BitRev_6(i) 2^32 with a psi of order 128: group i of any layer is modulo x^(2 m) minus the square of it, and leaves 2 i
/// and 2 i + 1 are modulo x^D minus it and x^D plus it.
pub(in crate::backends) static ZETAS: [i32; 64] = powers(PSI);
pub(in crate::backends) static INVERSES: [i32; 64] = powers(power(PSI, 127));

/// The smallest generator's power with this order.
const PSI: u64 = {
    let mut generator = 2;
    while power(power(generator, (P as u64 - 1) / 128), 64) != P as u64 - 1 {
        generator += 1;
    }
    power(generator, (P as u64 - 1) / 128)
};

const fn powers(psi: u64) -> [i32; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i as usize] = montgomery(power(psi, ((i as u8).reverse_bits() >> 2) as u64));
        i += 1;
    }
    table
}

/// `a` 2^32 modulo P, at most P / 2.
pub(in crate::backends) const fn montgomery(a: u64) -> i32 {
    let c = (((a % P as u64) << 32) % P as u64) as i32;
    if c > P / 2 { c - P } else { c }
}

pub(in crate::backends) const fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut square, mut result) = (base, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * square % P as u64;
        }
        square = square * square % P as u64;
        exponent >>= 1;
    }
    result
}
