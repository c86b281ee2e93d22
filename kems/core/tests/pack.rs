//! Bit streams against their definition, for every width.

use kem_core::ct::{CtSink, Emit};
use kem_core::pack::{pack, unpack};
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

proptest! {
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
