//! Puts the board's `memory.x` where the linker looks for it.

use std::{env, fs, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = env::var("OUT_DIR")?;
    let board = if env::var_os("CARGO_FEATURE_BOARD_L4R5").is_some() {
        "memory/stm32l4r5.x"
    } else {
        "memory/mps2-an386.x"
    };
    fs::copy(board, Path::new(&out).join("memory.x"))?;
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rerun-if-changed=memory");
    Ok(())
}
