//! A re-authentication of which one message is changed on its way: no panic, and both sides have the same keys only if none was.
#![no_main]

use hybrid_handshake::{
    Error,
    control::Reauth,
    drbg::Drbg,
    mqtt::ReasonCode,
    reauth::{NewKeys, broker, client},
};
use kemqtt_fuzz::{Input, wire::World};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&step, rest)) = bytes.split_first() else {
        return;
    };
    // World 0 has a pre-shared key, world 1 a static one.
    let Some(Input { world, how }) = Input::parse(rest) else {
        return;
    };
    if world.credential().mode() as u8 > 2 {
        return;
    }
    let mut changed = false;
    let mut bend = |at: u8, honest: &[u8]| {
        let bent = how.bend(honest).filter(|_| at == step & 3);
        changed |= bent.as_ref().is_some_and(|bent| bent != honest);
        bent.unwrap_or_else(|| honest.to_vec())
    };
    if let Ok((client, broker)) = exchange(world, &mut bend) {
        let same = client.client.expose() == broker.client.expose() && client.broker.expose() == broker.broker.expose();
        assert_eq!(same, !changed);
    } else {
        assert!(changed);
    }
});

fn exchange(world: &World, bend: &mut dyn FnMut(u8, &[u8]) -> Vec<u8>) -> Result<(NewKeys, NewKeys), Error> {
    let done = world.run().expect("honest");
    let (suite, credential, key) = (world.any_suite(), world.credential(), world.broker.broker_key());
    let (mut client_rng, mut broker_rng) = (Drbg::broker(&[0x61; 32]), Drbg::broker(&[0x62; 32]));
    let mut out = vec![0; 3000];

    let (len, await_offer) = client::start(suite, done.client.reauth, &credential, &key, &mut client_rng, &mut out)?;
    let request = bend(0, &out[..len]);
    let send_offer = broker::read_request(suite, done.broker.reauth, &done.broker.opener, &message(&request)?)?;
    let params = world.m2_params();
    let (len, await_answer) = send_offer.write(&params.secret, &params.enrolled, &mut broker_rng, &mut out)?;
    let offer = bend(1, &out[..len]);
    let (len, await_success) = await_offer.answer(&message(&offer)?, &credential, &mut client_rng, &mut out)?;
    let answer = bend(2, &out[..len]);
    let (len, broker_keys) = await_answer.finish(&message(&answer)?, &mut out)?;
    let success = bend(3, &out[..len]);
    Ok((await_success.finish(&message(&success)?)?, broker_keys))
}

/// As the control reader gives it: its type and length are in order.
fn message(whole: &[u8]) -> Result<Reauth<'_>, Error> {
    let [4, high, low, reason, fields @ ..] = whole else {
        return Err(Error::UnexpectedPacket);
    };
    if usize::from(u16::from_be_bytes([*high, *low])) != fields.len() + 1 {
        return Err(Error::UnexpectedPacket);
    }
    let reason = ReasonCode::from_code(*reason).ok_or(Error::UnexpectedPacket)?;
    Ok(Reauth { reason, fields, whole })
}
