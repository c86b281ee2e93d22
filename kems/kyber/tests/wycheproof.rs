//! All ML-KEM files of Wycheproof: keys from seeds, encapsulation, decapsulation, and inputs that have to be refused.

use kem_core::{Bytes, Ek, InvalidKey, Kem, SharedSecret};
use kyber::{MlKem512, MlKem768, MlKem1024};
use wycheproof::TestResult;
use wycheproof::mlkem::{Test, TestName, TestSet};

/// What an implementation makes of one test: an error, or the bytes that it computed next to the expected ones.
type Outcome = Result<Vec<(Vec<u8>, Vec<u8>)>, InvalidKey>;

fn run(name: TestName, count: usize, outcome: impl Fn(&Test) -> Outcome) {
    let set = TestSet::load(name).expect("the file parses");
    let tests = || set.test_groups.iter().flat_map(|group| &group.tests);
    assert_eq!(tests().count(), count);
    for test in tests() {
        match (outcome(test), test.result) {
            (Ok(pairs), TestResult::Valid) => {
                assert!(!pairs.is_empty());
                pairs
                    .into_iter()
                    .for_each(|(ours, theirs)| assert_eq!(ours, theirs, "{name:?} {}", test.tc_id));
            }
            (Err(InvalidKey), TestResult::Invalid) => {}
            (outcome, expected) => panic!("{name:?} {}: {expected:?}, but {outcome:?}", test.tc_id),
        }
    }
}

fn given(field: &Option<wycheproof::ByteString>) -> Vec<u8> {
    field.as_ref().expect("every test of this file has the field").to_vec()
}

fn sized<B: Bytes>(bytes: &[u8]) -> Result<&B, InvalidKey> {
    B::from_slice(bytes).ok_or(InvalidKey)
}

fn keygen<K: Kem>(test: &Test) -> Result<(K::EkBytes, K::DkBytes), InvalidKey> {
    let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen_from(sized(&given(&test.seed))?, &mut ek, &mut dk).expect("never fails");
    Ok((ek, dk))
}

fn key_generation<K: Kem>(test: &Test) -> Outcome {
    let (ek, dk) = keygen::<K>(test)?;
    Ok(vec![
        (ek.as_ref().into(), given(&test.encaps_key)),
        (dk.as_ref().into(), given(&test.decaps_key)),
    ])
}

fn encapsulation<K: Kem>(test: &Test) -> Outcome {
    let ek = given(&test.encaps_key);
    let (mut ct, mut ss) = (K::CtBytes::ZERO, SharedSecret::zeroed());
    K::encaps_from(sized(&given(&test.msg))?, &Ek::parse(&ek)?, &mut ct, &mut ss);
    Ok(vec![
        (ct.as_ref().into(), given(&test.ct)),
        (ss.expose().to_vec(), given(&test.shared_secret)),
    ])
}

fn decapsulation<K: Kem>(test: &Test) -> Outcome {
    let (ek, dk) = keygen::<K>(test)?;
    let mut ss = SharedSecret::zeroed();
    assert!(K::decaps(&dk, sized(&given(&test.ct))?, &mut ss).is_ok());
    Ok(vec![
        (ek.as_ref().into(), given(&test.encaps_key)),
        (ss.expose().to_vec(), given(&test.shared_secret)),
    ])
}

fn decapsulation_with_stored_key<K: Kem>(test: &Test) -> Outcome {
    let dk = given(&test.decaps_key);
    let dk = sized(&dk)?;
    K::check_dk(dk)?;
    let mut ss = SharedSecret::zeroed();
    assert!(K::decaps(dk, sized(&given(&test.ct))?, &mut ss).is_ok());
    Ok(vec![(ss.expose().to_vec(), given(&test.shared_secret))])
}

#[test]
fn ml_kem_512() {
    run(TestName::MlKem512KeyGenSeed, 100, key_generation::<MlKem512>);
    run(TestName::MlKem512Encaps, 261, encapsulation::<MlKem512>);
    run(TestName::MlKem512, 200, decapsulation::<MlKem512>);
    run(
        TestName::MlKem512SemiExpandedDecaps,
        9,
        decapsulation_with_stored_key::<MlKem512>,
    );
}

#[test]
fn ml_kem_768() {
    run(TestName::MlKem768KeyGenSeed, 100, key_generation::<MlKem768>);
    run(TestName::MlKem768Encaps, 265, encapsulation::<MlKem768>);
    run(TestName::MlKem768, 201, decapsulation::<MlKem768>);
    run(
        TestName::MlKem768SemiExpandedDecaps,
        9,
        decapsulation_with_stored_key::<MlKem768>,
    );
}

#[test]
fn ml_kem_1024() {
    run(TestName::MlKem1024KeyGenSeed, 100, key_generation::<MlKem1024>);
    run(TestName::MlKem1024Encaps, 269, encapsulation::<MlKem1024>);
    run(TestName::MlKem1024, 202, decapsulation::<MlKem1024>);
    run(
        TestName::MlKem1024SemiExpandedDecaps,
        9,
        decapsulation_with_stored_key::<MlKem1024>,
    );
}
