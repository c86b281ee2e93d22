//! Sponges against published values and against other implementations, in every chunking.

use ascon_xof128::AsconXof128 as TheirAscon;
use kem_core::hash::{AsconXof, AsconXof128, HashSuite, Sha3, Sha3_256, Sha3_512, Shake128, Shake256, XofReader};
use proptest::prelude::*;
use sha3::digest::{Digest, ExtendableOutput, Update, XofReader as _};

fn hex_of<const N: usize>(fill: impl FnOnce(&mut [u8])) -> String {
    let mut out = [0; N];
    fill(&mut out);
    hex::encode(out)
}

/// FIPS 202, from the NIST example values (0 bits) and the well-known digests of "abc".
#[test]
fn fips_202_examples() {
    assert_eq!(
        hex_of::<32>(|out| Sha3_256::digest(&[], out)),
        "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"
    );
    assert_eq!(
        hex_of::<32>(|out| Sha3_256::digest(&[b"abc"], out)),
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
    );
    assert_eq!(
        hex_of::<64>(|out| Sha3_512::digest(&[], out)),
        "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a615b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26"
    );
    assert_eq!(
        hex_of::<64>(|out| Sha3_512::digest(&[b"a", b"bc"], out)),
        "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"
    );
    assert_eq!(
        hex_of::<32>(|out| Shake128::digest(&[], out)),
        "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"
    );
    assert_eq!(
        hex_of::<32>(|out| Shake256::digest(&[], out)),
        "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"
    );
}

/// SP 800-232, first entry of the published Ascon-XOF128 test file: the empty message.
#[test]
fn ascon_xof128_of_nothing() {
    assert_eq!(
        hex_of::<64>(|out| AsconXof128::new().finalize().read(out)),
        "473d5e6164f58b39dfd84aacdb8ae42ec2d91fed33388ee0d960d9b3993295c6ad77855a5d3b13fe6ad9e6098988373af7d0956d05a8f1665d2c67d1a3ad10ff"
    );
}

/// Cuts 0..len at the positions that `cuts` gives; many empty and short pieces.
fn pieces(len: usize, cuts: &[usize]) -> Vec<core::ops::Range<usize>> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (len + 1)).chain([len]).collect();
    ends.sort_unstable();
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts
        .zip(ends.iter().copied())
        .map(|(start, end)| start..end)
        .collect()
}

fn read_in_pieces(mut reader: impl XofReader, len: usize, cuts: &[usize]) -> Vec<u8> {
    let mut out = vec![0xa5; len];
    pieces(len, cuts)
        .into_iter()
        .for_each(|piece| reader.read(&mut out[piece]));
    out
}

macro_rules! xof_agrees {
    ($ours:ty, $theirs:ty, $message:ident, $len:ident, $cuts:ident) => {{
        let mut ours = <$ours>::new();
        pieces($message.len(), &$cuts)
            .into_iter()
            .for_each(|piece| ours.update(&$message[piece]));
        let mut theirs = <$theirs>::default();
        theirs.update(&$message);
        let mut expected = vec![0; $len];
        theirs.finalize_xof().read(&mut expected);
        prop_assert_eq!(read_in_pieces(ours.finalize(), $len, &$cuts), expected);
    }};
}

proptest! {
    #[test]
    fn any_chunking_gives_the_bytes_of_the_oracle(
        message in prop::collection::vec(any::<u8>(), 0..400),
        len in 0usize..400,
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        xof_agrees!(Shake128, shake::Shake128, message, len, cuts);
        xof_agrees!(Shake256, shake::Shake256, message, len, cuts);
        xof_agrees!(AsconXof128, TheirAscon, message, len, cuts);

        let parts: Vec<&[u8]> = pieces(message.len(), &cuts).into_iter().map(|piece| &message[piece]).collect();
        let (mut short, mut long) = ([0; 32], [0; 64]);
        Sha3_256::digest(&parts, &mut short);
        Sha3_512::digest(&parts, &mut long);
        prop_assert_eq!(&short[..], &sha3::Sha3_256::digest(&message)[..]);
        prop_assert_eq!(&long[..], &sha3::Sha3_512::digest(&message)[..]);

        let mut suite = [0; 64];
        Sha3::hash64(&parts, &mut suite);
        prop_assert_eq!(suite, long);
        prop_assert_eq!(read_in_pieces(Sha3::xof(&parts), len, &cuts), {
            let mut expected = vec![0; len];
            shake::Shake256::default().chain(&message).finalize_xof().read(&mut expected);
            expected
        });
        AsconXof::hash64(&parts, &mut suite);
        prop_assert_eq!(read_in_pieces(AsconXof::xof(&parts), 64, &cuts), suite);
    }

    /// Every length around the block sizes: padding into the last byte of a block, and a message of whole blocks.
    #[test]
    fn padding_at_block_ends(byte: u8, blocks in 1usize..4, offset in 0usize..4) {
        let (len, cuts) = (32usize, [0usize; 0]);
        for rate in [8, 72, 136, 168] {
            let message = vec![byte; blocks * rate + 1 - offset];
            xof_agrees!(Shake128, shake::Shake128, message, len, cuts);
            xof_agrees!(Shake256, shake::Shake256, message, len, cuts);
            xof_agrees!(AsconXof128, TheirAscon, message, len, cuts);
            let mut ours = [0; 64];
            Sha3_512::digest(&[&message], &mut ours);
            prop_assert_eq!(&ours[..], &sha3::Sha3_512::digest(&message)[..]);
        }
    }
}
