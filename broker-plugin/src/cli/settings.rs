//! Flags and variables of all settings, from the one table of them.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use kemqtt_broker::{
    Config, ConfigError,
    config::{Kind, Overrides, SETTINGS, Setting},
};

/// The configuration file and what overrides it; every command takes them.
pub(crate) struct Settings {
    file: Option<PathBuf>,
    overrides: Result<Overrides, ConfigError>,
}

impl Settings {
    /// Reads the file, which may have changed since, and checks everything.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let overrides = self.overrides.clone()?;
        Ok(Config::load(self.file.as_deref(), &overrides)?)
    }
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config")
            .long("config")
            .short('c')
            .global(true)
            .env("KEMQTT_CONFIG")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Configuration file (TOML)")
            .help_heading(HEADING);
        SETTINGS
            .iter()
            .fold(command.arg(file), |command, setting| command.arg(argument(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut overrides = Overrides::default();
        let set = SETTINGS
            .iter()
            .try_for_each(|setting| match matches.get_one::<String>(setting.variable) {
                Some(text) => overrides.set(setting.key, text),
                None => Ok(()),
            });
        Ok(Self {
            file: matches.get_one("config").cloned(),
            overrides: set.map(|()| overrides),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(setting: &Setting) -> Arg {
    let argument = Arg::new(setting.variable)
        .long(setting.flag)
        .env(setting.variable)
        .global(true)
        .value_name(setting.value)
        .help(setting.help)
        .help_heading(HEADING)
        .hide_env_values(true)
        .action(ArgAction::Set);
    match setting.kind {
        Kind::Switch => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Kind::Text | Kind::Number | Kind::List => argument,
    }
}

const HEADING: &str = "Settings (each wins over the file)";
