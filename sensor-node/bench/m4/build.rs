//! Puts `memory.x` where the linker looks for it, and passes the choice of rows on.

use std::{env, fs, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = env::var("OUT_DIR")?;
    fs::copy("memory.x", Path::new(&out).join("memory.x"))?;
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rerun-if-env-changed=BENCH_M4_ROWS");
    println!("cargo::rustc-check-cfg=cfg(kemqtt_portable)");
    let rows = env::var("BENCH_M4_ROWS").unwrap_or_default();
    println!("cargo::rustc-env=BENCH_M4_ROWS={rows}");
    Ok(())
}
