//! What must fail, and with which error: tampering, forged peers, wrong keys, misuse of order.
#![allow(missing_docs)]

#[path = "negative/forged.rs"]
mod forged;
#[path = "negative/header.rs"]
mod header;
#[path = "negative/identity.rs"]
mod identity;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/straight.rs"]
mod straight;
#[path = "negative/tampered.rs"]
mod tampered;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;
