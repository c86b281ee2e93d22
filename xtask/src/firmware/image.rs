//! The images, and how they are built.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use xshell::{Shell, cmd};

/// One firmware image: a board and a suite.
pub(crate) struct Image {
    pub(crate) board: Board,
    /// The suite's name.
    pub(crate) suite: &'static str,
    /// The firmware crate's feature for it.
    feature: &'static str,
    /// The broker key that the image is built for.
    pub(crate) broker_key: &'static str,
}

/// How the devices of an image prove who they are.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Credential {
    /// A pre-shared key.
    Psk,
    /// A static key pair of the suite's KEM and group.
    #[value(name = "kem")]
    KeyPair,
}

impl Credential {
    fn feature(self) -> &'static str {
        match self {
            Self::Psk => "",
            Self::KeyPair => ",kem-auth",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Board {
    /// ATmega1284P, in simavr.
    Avr,
    /// STM32L4R5, in m4sim.
    CortexM4,
}

pub(crate) const IMAGES: [Image; 11] = [
    Image::new(Board::Avr, "x25519-ctrulight-ascon", "suite-1011", "mlkem512/x25519"),
    Image::new(
        Board::Avr,
        "x25519-ctrulight-ascon",
        "suite-1011,reauth",
        "mlkem512/x25519",
    ),
    Image::new(Board::Avr, "x25519-mlkem512-ascon", "suite-0111", "mlkem512/x25519"),
    Image::new(Board::Avr, "x25519-lightsaber-ascon", "suite-1111", "mlkem512/x25519"),
    Image::new(
        Board::CortexM4,
        "x25519-ctrulight-ascon",
        "suite-1011",
        "mlkem512/x25519",
    ),
    Image::new(
        Board::CortexM4,
        "x25519-mlkem768-ascon",
        "suite-0211",
        "mlkem768/x25519",
    ),
    Image::new(
        Board::CortexM4,
        "x25519-mlkem768-chacha20poly1305",
        "suite-0222",
        "mlkem768/x25519",
    ),
    Image::new(
        Board::CortexM4,
        "x25519-ntruplus768-chacha20poly1305",
        "suite-1222",
        "mlkem768/x25519",
    ),
    Image::new(Board::Avr, "none-ctrulight-ascon", "lab-1001", "mlkem512/none"),
    Image::new(Board::Avr, "none-mlkem512-ascon", "lab-0101", "mlkem512/none"),
    Image::new(Board::Avr, "none-lightsaber-ascon", "lab-1101", "mlkem512/none"),
];

impl Image {
    const fn new(board: Board, suite: &'static str, feature: &'static str, broker_key: &'static str) -> Self {
        Self {
            board,
            suite,
            feature,
            broker_key,
        }
    }

    /// Whether it is for measurements only: no Diffie-Hellman.
    pub(crate) fn is_lab(&self) -> bool {
        self.feature.starts_with("lab-")
    }

    /// Whether its node can prove anew who it is within a session. On the AVR that is an option.
    pub(crate) fn reauthenticates(&self) -> bool {
        self.board == Board::CortexM4 || self.feature.ends_with(",reauth")
    }

    /// The credentials that its devices may have, each of which takes an image of its own: the EEPROM of the AVR holds a key
    /// pair of one suite only.
    pub(crate) fn credentials(&self) -> &'static [Credential] {
        match self.board {
            Board::CortexM4 => &[Credential::Psk, Credential::KeyPair],
            Board::Avr if self.feature == "suite-1011" => &[Credential::Psk, Credential::KeyPair],
            Board::Avr => &[Credential::Psk],
        }
    }

    /// `atmega1284p-suite-1011`, and with a key pair `atmega1284p-suite-1011-kem-auth`.
    pub(crate) fn name(&self, credential: Credential) -> String {
        let kind = match credential {
            Credential::Psk => "",
            Credential::KeyPair => "-kem-auth",
        };
        format!("{}-{}{kind}", self.board.mcu(), self.feature.replace(',', "-"))
    }

    /// Builds the image for devices with this credential, and gives the path of a copy that the next image does not overwrite.
    pub(crate) fn build(&self, shell: &Shell, credential: Credential) -> Result<PathBuf> {
        self.build_with(shell, self.board.feature(), credential, "")
    }

    /// The same for the memory of QEMU's mps2-an386.
    pub(crate) fn build_for_qemu(&self, shell: &Shell, credential: Credential) -> Result<PathBuf> {
        self.build_with(shell, ",reauth", credential, "-qemu")
    }

    /// Lints the firmware crate as this image has it. What it depends on has been built for the image, or is now and serves it
    /// next, so this takes half a second.
    pub(crate) fn lint(&self, shell: &Shell, credential: Credential) -> Result<()> {
        let _folder = shell.push_dir(self.board.folder());
        cmd!(shell, "cargo fmt --check").quiet().run()?;
        let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
        // What `cargo clippy` does as well; but that has the dependencies checked once more beside their build.
        let _clippy = shell.push_env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        let _lock = lock(&target_folder(shell)?)?;
        let (suite, board, kind) = (self.feature, self.board.feature(), credential.feature());
        cmd!(
            shell,
            "cargo rustc --quiet --release --locked --no-default-features --features {suite}{board}{kind} -- -Zno-codegen -Dwarnings"
        )
        .quiet()
        .run()?;
        Ok(())
    }

    fn build_with(&self, shell: &Shell, board: &str, credential: Credential, suffix: &str) -> Result<PathBuf> {
        let (target, _lock) = {
            let _folder = shell.push_dir(self.board.folder());
            // AVR has no prebuilt `core`; building it is an unstable feature of cargo that the pinned stable toolchain has too.
            let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
            let target = target_folder(shell)?;
            // Every image of a board has the same name there, and another build would replace it before it is copied.
            let lock = lock(&target)?;
            let (suite, kind) = (self.feature, credential.feature());
            cmd!(
                shell,
                "cargo build --quiet --release --locked --no-default-features --features {suite}{board}{kind}"
            )
            .quiet()
            .run()?;
            (target, lock)
        };
        let image = folder().join(format!("{}{suffix}.elf", self.name(credential)));
        replace(&target.join(self.board.elf()), &image).context("the firmware crate gives no image")?;
        Ok(image)
    }
}

impl Board {
    pub(crate) fn mcu(self) -> &'static str {
        match self {
            Self::Avr => "atmega1284p",
            Self::CortexM4 => "cortex-m4",
        }
    }

    /// Bytes of non-volatile memory.
    pub(crate) fn nv_len(self) -> &'static str {
        match self {
            Self::Avr => "4096",
            Self::CortexM4 => "8192",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Avr => "sensor-node/avr",
            Self::CortexM4 => "sensor-node/cortex-m4",
        }
    }

    fn feature(self) -> &'static str {
        match self {
            Self::Avr => "",
            Self::CortexM4 => ",reauth,board-l4r5",
        }
    }

    fn elf(self) -> &'static str {
        match self {
            Self::Avr => "avr-none/release/kemqtt-avr.elf",
            Self::CortexM4 => "thumbv7em-none-eabihf/release/kemqtt-cortex-m4",
        }
    }
}

/// Where the images and the simulator lie, for the tests as well.
pub(crate) fn folder() -> PathBuf {
    crate::root().join("target/firmware")
}

/// Builds the simulator and gives the path of its program.
pub(crate) fn simulator(shell: &Shell) -> Result<PathBuf> {
    let _folder = shell.push_dir("sensor-node/sim");
    cmd!(shell, "cargo build --quiet --locked").quiet().run()?;
    let program = folder().join("kemqtt-sim");
    replace(&target_folder(shell)?.join("debug/kemqtt-sim"), &program)?;
    Ok(program)
}

/// Copies `from` to `to`. Who has the old file open, or runs it, keeps it whole.
fn replace(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(folder())?;
    let copy = tempfile::NamedTempFile::new_in(folder())?;
    fs::copy(from, &copy)?;
    copy.persist(to)?;
    Ok(())
}

/// Waits until no other run builds an image in this folder; the next one waits until the file is dropped.
pub(crate) fn lock(target: &Path) -> Result<fs::File> {
    fs::create_dir_all(target)?;
    let file = fs::File::create(target.join("image.lock"))?;
    file.lock()?;
    Ok(file)
}

/// Where cargo puts what it builds in the current folder.
pub(crate) fn target_folder(shell: &Shell) -> Result<PathBuf> {
    let metadata = cmd!(shell, "cargo metadata --no-deps --format-version 1")
        .quiet()
        .read()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let folder = metadata["target_directory"]
        .as_str()
        .context("cargo names no target folder")?;
    Ok(Path::new(folder).to_owned())
}
