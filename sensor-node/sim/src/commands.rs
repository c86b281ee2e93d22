//! The subcommands, one file each.

pub(crate) mod node;
pub(crate) mod provision;
pub(crate) mod run;
