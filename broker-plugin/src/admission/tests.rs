use std::{net::Ipv4Addr, time::Duration};

use super::*;

fn admission(half_open: usize, half_open_bytes: usize) -> Admission {
    let limits = Limits {
        half_open,
        half_open_bytes,
        connections: 8,
        source_rate: 1000,
        source_burst: 1000,
        ..Limits::default()
    };
    Admission::new(limits, Arc::new(Metrics::new()))
}

fn source(last: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, last).into()
}

fn admit(admission: &Admission, last: u8) -> Permit {
    admission.admit(source(last), Instant::now()).expect("admitted")
}

#[test]
fn the_oldest_of_the_busiest_source_makes_room() {
    let admission = admission(4, 1 << 20);
    let quiet = admit(&admission, 1);
    let busy: Vec<_> = (0..3).map(|_| admit(&admission, 2)).collect();
    let newcomer = admit(&admission, 3);
    assert!(busy[0].evicted().is_cancelled());
    for stays in [&quiet, &busy[1], &busy[2], &newcomer] {
        assert!(!stays.evicted().is_cancelled());
    }
}

#[test]
fn established_connections_are_never_evicted() {
    let admission = admission(1, 1 << 20);
    let mut first = admit(&admission, 1);
    let token = first.evicted();
    first.leave_handshake();
    let second = admit(&admission, 1);
    let third = admit(&admission, 1);
    assert!(!token.is_cancelled());
    assert!(second.evicted().is_cancelled() && !third.evicted().is_cancelled());
}

#[test]
fn memory_is_booked_and_given_back() {
    let admission = admission(8, 100);
    let metrics = admission.0.metrics.clone();
    let mut first = admit(&admission, 1);
    first.reserve(60).unwrap();
    let mut second = admit(&admission, 2);
    second.reserve(40).unwrap();
    assert_eq!(metrics.half_open_bytes.get(), 100);
    // The two sources are equally busy; whichever is evicted, the asker gets its bytes or is the one to go.
    let asked = second.reserve(60);
    assert_eq!(asked.is_ok(), first.evicted().is_cancelled());
    assert_eq!(asked.is_err(), second.evicted().is_cancelled());
    assert_eq!(admit(&admission, 3).reserve(101), Err(Refused::Full));
    drop((first, second));
    assert_eq!(metrics.half_open_bytes.get(), 0);
    assert_eq!(admission.0.lock().bytes, 0);
}

#[test]
fn the_connection_limit_counts_established_ones() {
    let admission = admission(8, 1 << 20);
    let mut open: Vec<_> = (0..8).map(|i| admit(&admission, i)).collect();
    open.iter_mut().for_each(Permit::leave_handshake);
    assert_eq!(admission.admit(source(9), Instant::now()).err(), Some(Refused::Full));
    open.pop();
    admit(&admission, 9);
}

#[test]
fn a_source_over_its_rate_waits_and_others_do_not() {
    let limits = Limits {
        source_rate: 10,
        source_burst: 2,
        ..Limits::default()
    };
    let admission = Admission::new(limits, Arc::new(Metrics::new()));
    let start = Instant::now();
    let mut open: Vec<_> = (0..2).map(|_| admission.admit(source(1), start).unwrap()).collect();
    assert_eq!(admission.admit(source(1), start).err(), Some(Refused::Rate));
    open.push(admission.admit(source(2), start).unwrap());
    let later = start + Duration::from_millis(100);
    open.push(admission.admit(source(1), later).unwrap());
    assert_eq!(admission.admit(source(1), later).err(), Some(Refused::Rate));
}

#[test]
fn gauges_return_to_their_start() {
    let admission = admission(2, 1 << 20);
    let metrics = admission.0.metrics.clone();
    let mut permits: Vec<_> = (0..5).map(|_| admit(&admission, 1)).collect();
    permits[4].leave_handshake();
    assert_eq!((metrics.open.get(), metrics.half_open.get()), (5, 4));
    drop(permits);
    assert_eq!((metrics.open.get(), metrics.half_open.get()), (0, 0));
    let state = admission.0.lock();
    assert_eq!((state.open, state.half_open.len(), state.per_source.len()), (0, 0, 0));
}

#[test]
fn one_ipv6_network_is_one_source() {
    let a: IpAddr = "2001:db8:1:2::1".parse().unwrap();
    let b: IpAddr = "2001:db8:1:2:ffff::9".parse().unwrap();
    let c: IpAddr = "2001:db8:1:3::1".parse().unwrap();
    let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
    assert_eq!(source_of(a), source_of(b));
    assert_ne!(source_of(a), source_of(c));
    assert_eq!(source_of(mapped), source(1));
}
