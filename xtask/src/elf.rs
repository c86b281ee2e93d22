//! Sizes and routines in linked images.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, SymbolKind, elf};

/// Bytes of the sections that are loaded: code, constants and the initial values of data.
pub(crate) fn program_memory(elf: &Path) -> Result<u64> {
    let bytes = read(elf)?;
    Ok(parse(elf, &bytes)?
        .sections()
        .filter(|section| match section.flags() {
            SectionFlags::Elf { sh_flags } => sh_flags & u64::from(elf::SHF_ALLOC) != 0,
            _ => false,
        })
        .filter(|section| section.kind() != SectionKind::UninitializedData)
        .map(|section| section.size())
        .sum())
}

/// Functions in assembly, which is where these names are.
pub(crate) fn assembly_routines(elf: &Path) -> Result<usize> {
    let bytes = read(elf)?;
    let in_assembly = |name: object::Result<&str>| name.is_ok_and(|name| name.starts_with("kemqtt_"));
    Ok(parse(elf, &bytes)?
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.kind() == SymbolKind::Text && in_assembly(symbol.name()))
        .count())
}

fn read(elf: &Path) -> Result<Vec<u8>> {
    fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))
}

fn parse<'a>(elf: &Path, bytes: &'a [u8]) -> Result<object::File<'a>> {
    object::File::parse(bytes).with_context(|| format!("{} is no object file", elf.display()))
}
