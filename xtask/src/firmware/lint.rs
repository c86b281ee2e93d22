//! Two ways in which LLVM silently makes wrong code for AVR, found in the finished image.
//!
//! 1. In a stack frame beyond 63 bytes a far slot is reached by `in r0, SREG`, `adiw`, `std`, `sbiw`, `out SREG, r0`. When the
//!    byte to store is itself in r0, the low byte of a `mul` that is, SREG is stored in its place.
//! 2. A signed multiplication that looks for overflow calls `__mulosi4` and its like with the address of a 2-byte flag, of which
//!    they write 4 bytes: the stack is smashed.

use std::fmt;

/// A place where r0 holds the saved SREG but is used as the product it held before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostProduct {
    function: String,
    address: String,
    instruction: String,
}

impl fmt::Display for LostProduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {}: `{}` reads SREG, not the product",
            self.function, self.address, self.instruction
        )
    }
}

/// Looks through the output of `avr-objdump -d` for trap 1.
pub(crate) fn lost_products(listing: &str) -> Vec<LostProduct> {
    let mut found = Vec::new();
    let mut function = "";
    let mut r0 = R0::Other;
    for line in listing.lines() {
        if let Some(label) = label(line) {
            (function, r0) = (label, R0::Other);
        } else if let Some((address, mnemonic, operands)) = instruction(line) {
            let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|o| !o.is_empty()).collect();
            if r0 == R0::Stale && mnemonic != "out" && reads_r0(mnemonic, &operands) {
                found.push(LostProduct {
                    function: function.into(),
                    address: address.into(),
                    instruction: format!("{mnemonic} {}", operands.join(", ")),
                });
            }
            r0 = r0.after(mnemonic, &operands);
        }
    }
    found
}

/// Looks through the output of `avr-nm` for trap 2.
pub(crate) fn forbidden_symbols(symbols: &str) -> Vec<&str> {
    let names = symbols.lines().filter_map(|line| line.split_whitespace().last());
    names.filter(|name| OVERFLOW_HELPERS.contains(name)).collect()
}

/// What r0 holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum R0 {
    Product,
    /// SREG, where a product was.
    Stale,
    Other,
}

impl R0 {
    fn after(self, mnemonic: &str, operands: &[&str]) -> Self {
        let writes = operands.first() == Some(&"r0");
        match mnemonic {
            _ if MULTIPLICATIONS.contains(&mnemonic) => Self::Product,
            _ if mnemonic.starts_with("br") || JUMPS.contains(&mnemonic) => Self::Other,
            "in" if writes && operands[1..] == ["0x3f"] && self != Self::Other => Self::Stale,
            // The frame is reached in pieces: several stores may stand between saving SREG and restoring it.
            "st" | "std" | "sts" | "out" | "push" | "cp" | "cpc" | "cpse" | "sbrc" | "sbrs" | "tst" => self,
            _ if writes => Self::Other,
            _ => self,
        }
    }
}

/// Stores name r0 last, two-operand arithmetic and comparisons anywhere, one-operand arithmetic first.
fn reads_r0(mnemonic: &str, operands: &[&str]) -> bool {
    match operands {
        // The idiom for zero.
        ["r0", "r0"] if matches!(mnemonic, "eor" | "sub") => false,
        // A pair is named by its low register.
        [_, "r0"] => true,
        ["r0", ..] => READ_FIRST_OPERAND.contains(&mnemonic),
        _ => false,
    }
}

/// The name in `000001f4 <main>:`.
fn label(line: &str) -> Option<&str> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    address.chars().all(|digit| digit.is_ascii_hexdigit()).then_some(name)
}

/// Address, mnemonic and operands of `  1f4:\t0f 92       \tpush\tr0 ; comment`.
fn instruction(line: &str) -> Option<(&str, &str, &str)> {
    let (address, rest) = line.trim_start().split_once(":\t")?;
    let (_bytes, text) = rest.split_once('\t')?;
    let text = text.split(';').next()?.trim();
    let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (!mnemonic.is_empty()).then_some((address, mnemonic, operands))
}

const OVERFLOW_HELPERS: [&str; 3] = ["__mulosi4", "__mulodi4", "__muloti4"];
const MULTIPLICATIONS: [&str; 6] = ["mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu"];
const JUMPS: [&str; 9] = ["ret", "reti", "rjmp", "jmp", "call", "rcall", "icall", "eicall", "ijmp"];
const READ_FIRST_OPERAND: [&str; 26] = [
    "add", "adc", "sub", "sbc", "and", "or", "eor", "com", "neg", "inc", "dec", "lsl", "lsr", "rol", "ror", "asr",
    "swap", "push", "tst", "cp", "cpc", "cpse", "sbrc", "sbrs", "bst", "bld",
];

#[cfg(test)]
mod tests;
