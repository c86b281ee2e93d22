//! Noise for the generator: the lowest bits of the ADC on an open pin, and what the main clock's timer says meanwhile.
//!
//! The seed in the EEPROM carries the security; this only makes two units with a cloned EEPROM differ.

use kemqtt_node::Clock;

use crate::{board::sample, registers::TCNT0};

/// 32 bytes, each out of eight conversions.
pub(crate) fn gather(clock: &mut impl Clock) -> [u8; 32] {
    let mut noise = [0_u8; 32];
    for place in &mut noise {
        for _ in 0..8 {
            let [low, _] = sample().to_le_bytes();
            *place = place.rotate_left(1) ^ low ^ TCNT0.read();
        }
    }
    clock.mark(None);
    noise
}
