//! Inputs of the flight targets: `world and how (1) | rest`.

use crate::{straight::Knobs, wire::World, worlds};

/// Which world, and what to do to the flight.
pub struct Input<'a> {
    pub world: &'static World,
    pub how: How<'a>,
}

pub enum How<'a> {
    /// The flight is these bytes.
    Raw(&'a [u8]),
    /// The honest flight with changes: [`How::bend`].
    Patched(&'a [u8]),
    /// A flight of a peer that knows every secret; the rest is what it says.
    Forged(&'a [u8]),
}

impl<'a> Input<'a> {
    /// `None` for no bytes at all.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (&choice, rest) = bytes.split_first()?;
        let how = match choice >> 4 & 3 {
            0 => How::Raw(rest),
            1 => How::Patched(rest),
            _ => How::Forged(rest),
        };
        Some(Self {
            world: worlds::world(choice & 0xf),
            how,
        })
    }
}

impl How<'_> {
    /// `honest` with what the input does to it; `None` for a forged flight. Patches are `position(2) | mask(1)`; one byte behind them
    /// cuts so many bytes off, two append zeros.
    pub fn bend(&self, honest: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Raw(bytes) => Some(bytes.to_vec()),
            Self::Patched(patches) => {
                let mut bent = honest.to_vec();
                let mut patches = patches.chunks_exact(3);
                for patch in &mut patches {
                    let at = usize::from(u16::from_be_bytes([patch[0], patch[1]])) % bent.len();
                    bent[at] ^= patch[2];
                }
                match *patches.remainder() {
                    [cut] => bent.truncate(bent.len().saturating_sub(cut.into())),
                    [more, _] => bent.resize(bent.len() + usize::from(more), 0),
                    _ => {}
                }
                Some(bent)
            }
            Self::Forged(_) => None,
        }
    }

    /// What a forger says in M1 and M2: a byte that names the fields, then the fields.
    pub fn knobs(rest: &[u8]) -> Knobs {
        let mut fields = Fields(rest);
        let [which] = fields.take();
        let has = |bit: u8| which & 1 << bit != 0;
        let (flags, limits, id, features, share) = (has(0), has(1), has(2), has(3), has(4));
        let limits = limits.then(|| (u16::from_be_bytes(fields.take()), u16::from_be_bytes(fields.take())));
        let features = features.then(|| u16::from_be_bytes(fields.take()));
        let share = share.then(|| fields.take());
        Knobs {
            m1_flags: if flags { fields.take::<1>()[0] } else { 0 },
            m1_limits: limits,
            m1_id: id.then(|| fields.take()),
            m1_capabilities: features,
            m1_share: share,
            m2_limits: limits,
            m2_options: features,
            m2_share: share,
            m2_ek: (!fields.0.is_empty()).then(|| fields.0[..fields.0.len().min(500)].to_vec()),
            ..Knobs::default()
        }
    }
}

/// Zeros where the input has ended.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (now, later) = self.0.split_at(self.0.len().min(N));
        self.0 = later;
        let mut bytes = [0; N];
        bytes[..now.len()].copy_from_slice(now);
        bytes
    }
}
