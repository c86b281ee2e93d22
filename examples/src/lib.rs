//! Runnable examples live beside this folder: `cargo run --release --example demo`.
