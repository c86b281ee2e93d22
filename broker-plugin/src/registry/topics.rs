//! Topic rules of single devices.

use sqlx::{Row as _, any::AnyRow};

use super::{Registry, RegistryError, devices::one_device};
use crate::policy::TopicRules;

impl Registry {
    /// Gives a device topic rules of its own in place of those it has, or with [`TopicRules::default`] those of the
    /// configuration. Its sessions under other rules end.
    ///
    /// # Errors
    /// [`RegistryError::UnknownDevice`], [`RegistryError::TopicFilter`], or the database's.
    pub async fn set_topics(&self, id: &str, rules: &TopicRules) -> Result<(), RegistryError> {
        let (publish, subscribe) = columns(rules)?;
        let done = sqlx::query("UPDATE devices SET publish = $1, subscribe = $2, rules = rules + 1 WHERE id = $3")
            .bind(publish)
            .bind(subscribe)
            .bind(id)
            .execute(&self.pool)
            .await?;
        one_device(&done, id)
    }
}

/// The columns `publish` and `subscribe`.
pub(super) fn columns(rules: &TopicRules) -> Result<(Option<String>, Option<String>), RegistryError> {
    match rules.invalid() {
        Some(filter) => Err(RegistryError::TopicFilter(filter.to_owned())),
        None => {
            let lines = |list: &Option<Vec<String>>| list.as_ref().map(|filters| filters.join("\n"));
            Ok((lines(&rules.publish), lines(&rules.subscribe)))
        }
    }
}

pub(super) fn read(row: &AnyRow) -> Result<TopicRules, RegistryError> {
    let list = |column| {
        let text: Option<String> = row.try_get(column)?;
        Ok::<_, RegistryError>(text.map(|text| text.lines().map(str::to_owned).collect()))
    };
    Ok(TopicRules {
        publish: list("publish")?,
        subscribe: list("subscribe")?,
    })
}
