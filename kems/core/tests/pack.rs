//! Bit streams against their definition, for every width.

use kem_core::ct::{CtSink, Emit};
use kem_core::pack::{pack, pack8, unpack, unpack8};
use proptest::prelude::*;

struct Bytes(Vec<u8>);

impl CtSink for Bytes {
    fn put(&mut self, byte: u8) {
        self.0.push(byte);
    }
}

fn by_definition(values: &[u16], d: usize) -> Vec<u8> {
    let mut bytes = vec![0; (values.len() * d).div_ceil(8)];
    for i in 0..values.len() * d {
        bytes[i / 8] |= ((values[i / d] >> (i % d) & 1) as u8) << (i % 8);
    }
    bytes
}

fn check<const D: u32>(values: &[u16]) {
    let mut sink = Bytes(Vec::new());
    pack::<D>(values.iter().copied(), &mut sink);
    assert_eq!(sink.0, by_definition(values, D as usize), "{D} bits");
    let masked: Vec<u16> = values
        .iter()
        .map(|&value| (u32::from(value) & ((1 << D) - 1)) as u16)
        .collect();
    let back: Vec<u16> = unpack::<D>(&sink.0).collect();
    assert_eq!(back[..masked.len()], masked, "{D} bits");
    assert_eq!(back.len(), sink.0.len() * 8 / D as usize, "{D} bits");
}

#[test]
fn known_streams() {
    let mut bytes = [0; 5];
    pack::<10>([1, 2, 3, 1023], &mut Emit::new(&mut bytes));
    assert_eq!(bytes, [0x01, 0x08, 0x30, 0xc0, 0xff]);
    let mut bytes = [0; 3];
    pack::<12>([0xd01, 0x123], &mut Emit::new(&mut bytes));
    assert_eq!(bytes, [0x01, 0x3d, 0x12]);
}

fn check8<const D: usize>(values: &[u16; 8]) {
    let bytes = pack8::<D>(values);
    assert_eq!(bytes[..], by_definition(values, D), "{D} bits");
    assert_eq!(
        unpack8::<D>(&bytes),
        values.map(|value| (u32::from(value) & ((1 << D) - 1)) as u16),
        "{D} bits"
    );
}

proptest! {
    #[test]
    fn octets_of_every_width(values: [u16; 8]) {
        check8::<1>(&values);
        check8::<2>(&values);
        check8::<3>(&values);
        check8::<4>(&values);
        check8::<5>(&values);
        check8::<6>(&values);
        check8::<7>(&values);
        check8::<8>(&values);
        check8::<9>(&values);
        check8::<10>(&values);
        check8::<11>(&values);
        check8::<12>(&values);
        check8::<13>(&values);
        check8::<14>(&values);
        check8::<15>(&values);
        check8::<16>(&values);
    }

    #[test]
    fn every_width(values in prop::collection::vec(any::<u16>(), 0..70)) {
        check::<1>(&values);
        check::<2>(&values);
        check::<3>(&values);
        check::<4>(&values);
        check::<5>(&values);
        check::<6>(&values);
        check::<7>(&values);
        check::<8>(&values);
        check::<9>(&values);
        check::<10>(&values);
        check::<11>(&values);
        check::<12>(&values);
        check::<13>(&values);
        check::<14>(&values);
        check::<15>(&values);
        check::<16>(&values);
    }
}
