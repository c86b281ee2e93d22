extern crate std;

use hex::encode;
use kem_core::rand_core::Rng;

use super::*;

fn id() -> DeviceId {
    DeviceId::new("pump-7").unwrap()
}

fn next32(drbg: &mut Drbg) -> std::string::String {
    let mut out = [0; 32];
    drbg.fill_bytes(&mut out);
    encode(out)
}

#[derive(Clone)]
struct Eeprom {
    slots: [[u8; SLOT_LEN]; 2],
    /// Writes and erasures that still succeed.
    power: usize,
    worn: bool,
}

impl Eeprom {
    const EMPTY: Self = Self {
        slots: [[0xff; SLOT_LEN]; 2],
        power: usize::MAX,
        worn: false,
    };
}

impl SeedStore for Eeprom {
    type Error = &'static str;

    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), Self::Error> {
        *out = self.slots[slot as usize];
        Ok(())
    }

    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), Self::Error> {
        let Some(power) = self.power.checked_sub(1) else {
            self.slots[slot as usize][..17].copy_from_slice(&bytes[..17]);
            return Err("power cut");
        };
        self.power = power;
        self.slots[slot as usize] = *bytes;
        self.slots[slot as usize][3] ^= u8::from(self.worn);
        Ok(())
    }

    fn erase(&mut self, slot: Slot) -> Result<(), Self::Error> {
        self.power = self.power.checked_sub(1).ok_or("power cut")?;
        self.slots[slot as usize] = [0xff; SLOT_LEN];
        Ok(())
    }
}

#[test]
fn each_boot_takes_the_seed_and_leaves_its_successor() {
    let mut eeprom = Eeprom::EMPTY;
    provision(&mut eeprom, &[0x11; 32]).unwrap();
    assert_eq!(
        encode(eeprom.slots[0]),
        "11111111111111111111111111111111111111111111111111111111111111110000000019850361"
    );
    let mut drbg = boot(&mut eeprom, &id(), &[0x22; 32]).unwrap();
    assert_eq!(
        next32(&mut drbg),
        "9fdbee142644e32a9347508e404eb5548ec9df740cbff35fe0396bec1cb76ecd"
    );
    assert_eq!(eeprom.slots[0], [0xff; SLOT_LEN], "the old seed is gone");
    assert_eq!(
        encode(eeprom.slots[1]),
        "c099e6e2b32ff78a20b5582b7987973380b85c4d070f9576ecb07af117e8d54300000001529280d7"
    );
    let mut drbg = boot(&mut eeprom, &id(), &[0x22; 32]).unwrap();
    assert_eq!(
        next32(&mut drbg),
        "97ad07c2267ee22e65427489ebda000a558421158e63cc4262b37460578161d1"
    );
    assert_eq!(
        encode(eeprom.slots[0]),
        "0b6ba0157cbbe35a9662d9d928b5bd41f0e3d557b860bce39d728b4c951b521300000002bbe6a430"
    );
    assert_eq!(eeprom.slots[1], [0xff; SLOT_LEN]);
}

#[test]
fn a_power_cut_at_any_point_never_brings_a_seed_back() {
    for power in 0..2 {
        let mut eeprom = Eeprom::EMPTY;
        provision(&mut eeprom, &[0x11; 32]).unwrap();
        eeprom.power = power;
        assert_eq!(
            boot(&mut eeprom, &id(), &[0; 32]).err(),
            Some(SeedError::Store("power cut"))
        );
        eeprom.power = usize::MAX;
        let mut drbg = boot(&mut eeprom, &id(), &[0x22; 32]).unwrap();
        // The seed of a boot that did not get as far as its generator may serve; after the write, it may not.
        let unused = [
            "9fdbee142644e32a9347508e404eb5548ec9df740cbff35fe0396bec1cb76ecd",
            "97ad07c2267ee22e65427489ebda000a558421158e63cc4262b37460578161d1",
        ];
        assert_eq!(next32(&mut drbg), unused[power]);
        assert_eq!(eeprom.slots.iter().filter(|slot| **slot != [0xff; SLOT_LEN]).count(), 1);
    }
}

#[test]
fn a_damaged_or_empty_store_gives_no_generator() {
    assert_eq!(
        boot(&mut Eeprom::EMPTY.clone(), &id(), &[0; 32]).err(),
        Some(SeedError::Missing)
    );
    let mut zeros = Eeprom {
        slots: [[0; SLOT_LEN]; 2],
        ..Eeprom::EMPTY
    };
    assert_eq!(boot(&mut zeros, &id(), &[0; 32]).err(), Some(SeedError::Missing));
    let mut whole = Eeprom::EMPTY;
    provision(&mut whole, &[0x11; 32]).unwrap();
    for at in 0..SLOT_LEN {
        let mut damaged = whole.clone();
        damaged.slots[0][at] ^= 0x10;
        assert_eq!(
            boot(&mut damaged, &id(), &[0; 32]).err(),
            Some(SeedError::Missing),
            "byte {at}"
        );
    }
    whole.worn = true;
    assert_eq!(boot(&mut whole, &id(), &[0; 32]).err(), Some(SeedError::ReadBack));
    assert_eq!(provision(&mut whole, &[0x11; 32]).err(), Some(SeedError::ReadBack));
}

#[test]
fn the_generation_may_wrap() {
    let seed = |generation, byte| {
        Seed {
            seed: Zeroizing::new([byte; 32]),
            generation,
        }
        .encode()
    };
    let mut eeprom = Eeprom {
        slots: [*seed(0, 0x11), *seed(u32::MAX, 0x99)],
        ..Eeprom::EMPTY
    };
    let mut drbg = boot(&mut eeprom, &id(), &[0x22; 32]).unwrap();
    assert_eq!(
        next32(&mut drbg),
        "9fdbee142644e32a9347508e404eb5548ec9df740cbff35fe0396bec1cb76ecd"
    );
}
