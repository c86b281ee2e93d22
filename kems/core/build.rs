//! Names the Cortex-M4 for `cfg`: `target_arch` alone does not tell an ARMv7E-M core from other ARM cores.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(cortex_m4)");
    println!("cargo::rustc-check-cfg=cfg(cortex_m4_fpu)");
    println!("cargo::rustc-check-cfg=cfg(kemqtt_portable)");
    // Nothing but the target decides, and this file has another path in every package that builds with it.
    println!("cargo::rerun-if-env-changed=TARGET");
    let target = std::env::var("TARGET").unwrap_or_default();
    if target.starts_with("thumbv7em-") {
        println!("cargo::rustc-cfg=cortex_m4");
    }
    if target == "thumbv7em-none-eabihf" {
        println!("cargo::rustc-cfg=cortex_m4_fpu");
    }
}
