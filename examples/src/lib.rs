//! Runnable examples live beside this folder: `cargo run --release --example demo`.

/// The README's code, so that it keeps compiling.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
