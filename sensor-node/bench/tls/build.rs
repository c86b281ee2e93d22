//! Puts the board's `memory.x` where the linker looks for it, and certificates and key where the firmware does.

use std::{env, fs, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = env::var("OUT_DIR")?;
    let memory = "memory.x";
    fs::copy(memory, Path::new(&out).join("memory.x"))?;
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rerun-if-changed={memory}");
    println!("cargo::rerun-if-env-changed=BENCH_TLS_KEYS");
    // The lints need no keys.
    let keys = env::var("BENCH_TLS_KEYS").ok();
    for name in ["authority.der", "device.der", "device-key.der"] {
        let file = Path::new(&out).join(name);
        match &keys {
            Some(keys) => {
                let source = Path::new(keys).join(name);
                println!("cargo::rerun-if-changed={}", source.display());
                fs::copy(source, file).map(drop)?;
            }
            None => fs::write(file, [])?,
        }
    }
    Ok(())
}
