//! What an image takes on the chip.

use std::path::Path;

use anyhow::{Context, Result, bail};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionFlags, elf};
use serde::Serialize;

/// Bytes that an image takes before its first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Code, constants, and the initial values of variables.
    pub flash: u64,
    /// Variables, initialised or zero; the stack comes on top.
    pub ram: u64,
}

/// The core that an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// 8-bit AVR.
    Avr,
    /// Cortex-M, that is any 32-bit Arm.
    CortexM,
}

/// An ELF image on disk.
pub struct Image {
    bytes: Vec<u8>,
}

impl Image {
    /// Reads the file; its content is looked at by the other functions.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read the image {}", path.display()))?;
        Ok(Self { bytes })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Flash and RAM of the image. `.eeprom`, fuses and debug sections count nowhere.
    ///
    /// # Errors
    /// When the file is no ELF.
    pub fn sizes(&self) -> Result<Sizes> {
        let file = object::File::parse(self.bytes.as_slice())?;
        let mut sizes = Sizes { flash: 0, ram: 0 };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                continue;
            };
            let outside = [".eeprom", ".fuse", ".lock", ".signature"].contains(&section.name()?);
            if sh_flags & u64::from(elf::SHF_ALLOC) == 0 || outside {
                continue;
            }
            if section.kind() != object::SectionKind::UninitializedData {
                sizes.flash += section.size();
            }
            if sh_flags & u64::from(elf::SHF_WRITE) != 0 {
                sizes.ram += section.size();
            }
        }
        Ok(sizes)
    }

    /// The core that it is for.
    ///
    /// # Errors
    /// When it is for neither of the two that are simulated here.
    pub fn core(&self) -> Result<Core> {
        match object::File::parse(self.bytes.as_slice())?.architecture() {
            Architecture::Avr => Ok(Core::Avr),
            Architecture::Arm => Ok(Core::CortexM),
            other => bail!("an image for {other:?}, not for AVR or Cortex-M"),
        }
    }

    /// The address of a symbol.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        let file = object::File::parse(self.bytes.as_slice()).ok()?;
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
        Some(symbol.address())
    }
}
