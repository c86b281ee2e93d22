//! Division of times and counts.

/// Quotient and remainder for a divisor up to 2^15, bit by bit: compiler-builtins' routine takes a kilobyte of an AVR's flash.
#[inline(never)]
pub(crate) fn divide(number: u32, by: u16) -> (u32, u16) {
    let (mut quotient, mut rest) = (number, 0);
    for _ in 0..u32::BITS {
        rest = rest << 1 | u16::from(quotient >> 31 != 0);
        quotient <<= 1;
        if rest >= by {
            rest -= by;
            quotient |= 1;
        }
    }
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::divide;

    #[test]
    fn agrees_with_the_operators() {
        for number in [0, 1, 9, 10, 999, 1000, 65_535, 65_536, 123_456_789, u32::MAX] {
            for by in [1_u16, 2, 7, 10, 1000, 32_767, 32_768] {
                let by_32 = u32::from(by);
                assert_eq!(divide(number, by), (number / by_32, (number % by_32) as u16));
            }
        }
    }
}
