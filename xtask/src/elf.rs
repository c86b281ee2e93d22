//! Sizes in linked images.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use object::{Object, ObjectSection, SectionFlags, SectionKind, elf};

/// Bytes of the sections that are loaded: code, constants and the initial values of data.
pub(crate) fn program_memory(elf: &Path) -> Result<u64> {
    let bytes = fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))?;
    let file = object::File::parse(&*bytes).with_context(|| format!("{} is no object file", elf.display()))?;
    Ok(file
        .sections()
        .filter(|section| match section.flags() {
            SectionFlags::Elf { sh_flags } => sh_flags & u64::from(elf::SHF_ALLOC) != 0,
            _ => false,
        })
        .filter(|section| section.kind() != SectionKind::UninitializedData)
        .map(|section| section.size())
        .sum())
}
