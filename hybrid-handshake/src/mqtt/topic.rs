//! Topic Names and Topic Filters (MQTT 5.0 sections 4.7 and 4.8).

use crate::Malformed;

/// Checks a Topic Name: 1 to 65,535 bytes, no `+`, `#` or U+0000 (MQTT 5.0 sections 4.7.1 and 4.7.3).
///
/// # Errors
/// [`Malformed::Topic`].
pub fn check_name(name: &str) -> Result<(), Malformed> {
    let wild = name.bytes().any(|b| matches!(b, b'+' | b'#'));
    if wild {
        Err(Malformed::Topic)
    } else {
        check_length(name)
    }
}

/// Checks a Topic Filter: `+` only as a whole level, `#` only as the whole last level; a shared subscription is
/// `$share/{name}/{filter}` with a name of at least one character and without wildcards (MQTT 5.0 sections 4.7 and
/// 4.8.2).
///
/// # Errors
/// [`Malformed::Topic`].
pub fn check_filter(filter: &str) -> Result<(), Malformed> {
    check_length(filter)?;
    let filter = match split_share(filter) {
        Share::No => filter,
        Share::Of { name, filter } if !name.is_empty() && check_name(name).is_ok() && !filter.is_empty() => filter,
        Share::Of { .. } | Share::Broken => return Err(Malformed::Topic),
    };
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        let whole = level.len() == 1;
        let last = levels.peek().is_none();
        let misplaced = (level.contains('+') && !whole) || (level.contains('#') && !(whole && last));
        if misplaced {
            return Err(Malformed::Topic);
        }
    }
    Ok(())
}

/// The share name and the filter behind it, if `filter` is a well-formed shared subscription.
pub fn shared(filter: &str) -> Option<(&str, &str)> {
    match split_share(filter) {
        Share::Of { name, filter } => Some((name, filter)),
        Share::No | Share::Broken => None,
    }
}

/// Whether a filter matches a topic name, both valid. A wildcard in the first level does not match a name that begins
/// with `$` (MQTT 5.0 section 4.7.2). A shared filter has to be reduced with [`shared`] first.
pub fn matches(filter: &str, name: &str) -> bool {
    if name.starts_with('$') && !filter.starts_with('$') {
        return false;
    }
    let mut names = name.split('/');
    for level in filter.split('/') {
        if level == "#" {
            return true;
        }
        match names.next() {
            Some(name) if level == "+" || level == name => {}
            _ => return false,
        }
    }
    names.next().is_none()
}

/// Whether every name that `filter` matches is matched by `allowed` too, both valid and not shared.
pub fn is_subset(filter: &str, allowed: &str) -> bool {
    if filter.starts_with('$') && !allowed.starts_with('$') {
        return false;
    }
    // `#` also matches the level above it, so these two are the same set.
    let allowed = if allowed == "+/#" { "#" } else { allowed };
    let mut levels = filter.split('/');
    for allowed in allowed.split('/') {
        if allowed == "#" {
            return true;
        }
        match levels.next() {
            Some("#") | None => return false,
            Some(level) if allowed == "+" || allowed == level => {}
            Some(_) => return false,
        }
    }
    levels.next().is_none()
}

enum Share<'a> {
    No,
    Of { name: &'a str, filter: &'a str },
    Broken,
}

fn split_share(filter: &str) -> Share<'_> {
    match filter.strip_prefix("$share/") {
        Some(rest) => rest
            .split_once('/')
            .map_or(Share::Broken, |(name, filter)| Share::Of { name, filter }),
        None => Share::No,
    }
}

fn check_length(text: &str) -> Result<(), Malformed> {
    let fits = !text.is_empty() && u16::try_from(text.len()).is_ok() && text.bytes().all(|byte| byte != 0);
    if fits { Ok(()) } else { Err(Malformed::Topic) }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;

    use super::*;

    /// Examples of MQTT 5.0 sections 4.7.1, 4.7.3 and 4.8.2.
    const VALID_FILTERS: [&str; 17] = [
        "sport/tennis/player1/#",
        "sport/#",
        "#",
        "sport/tennis/#",
        "+",
        "+/tennis/#",
        "sport/+/player1",
        "/finance",
        "/",
        "//",
        "/+",
        "é/temp",
        "$SYS/#",
        "$share/consumer1/sport/tennis/+",
        "$share/consumer2//finance",
        "Accounts payable",
        "$share",
    ];
    const INVALID_FILTERS: [&str; 14] = [
        "",
        "sport/tennis#",
        "sport/tennis/#/ranking",
        "sport+",
        "sport/+x/a",
        "##",
        "++",
        "a\0b",
        "$share/",
        "$share/a",
        "$share/a/",
        "$share//a",
        "$share/a+/b",
        "$share/#/b",
    ];

    #[test]
    fn filters_of_the_standard() {
        for filter in VALID_FILTERS {
            assert_eq!(check_filter(filter), Ok(()), "{filter:?}");
        }
        for filter in INVALID_FILTERS {
            assert_eq!(check_filter(filter), Err(Malformed::Topic), "{filter:?}");
        }
    }

    #[test]
    fn names_have_no_wildcards_and_one_character_at_least() {
        for name in ["a", "/", "é/temp", "a b", "$SYS/uptime"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "a/#", "+/a", "a+", "\0"] {
            assert_eq!(check_name(name), Err(Malformed::Topic));
        }
        let long = String::from_utf8(std::vec![b'a'; 65_536]).unwrap();
        assert_eq!(check_name(&long), Err(Malformed::Topic));
        assert_eq!(check_name(&long[1..]), Ok(()));
    }

    /// The non-normative examples of MQTT 5.0 section 4.7.1 and 4.7.2.
    #[test]
    fn matching_as_in_the_standard() {
        for name in [
            "sport/tennis/player1",
            "sport/tennis/player1/ranking",
            "sport/tennis/player1/score/wimbledon",
        ] {
            assert!(matches("sport/tennis/player1/#", name));
        }
        for (filter, name, is) in [
            ("sport/#", "sport", true),
            ("sport/tennis/+", "sport/tennis/player1", true),
            ("sport/tennis/+", "sport/tennis/player1/ranking", false),
            ("sport/+", "sport", false),
            ("sport/+", "sport/", true),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("#", "$SYS/a", false),
            ("+/monitor/Clients", "$SYS/monitor/Clients", false),
            ("$SYS/#", "$SYS/", true),
            ("$SYS/monitor/+", "$SYS/monitor/Clients", true),
            ("ACCOUNTS", "Accounts", false),
        ] {
            assert_eq!(matches(filter, name), is, "{filter} {name}");
        }
    }

    #[test]
    fn a_subset_matches_nothing_that_the_allowed_filter_does_not() {
        const LEVELS: [&str; 4] = ["a", "b", "+", "#"];
        let mut filters = std::vec![String::from("$a/#"), String::from("$a/b"), String::from("$a/+")];
        for x in LEVELS {
            filters.push(x.into());
            for y in LEVELS {
                filters.push([x, y].join("/"));
                filters.extend(LEVELS.map(|z| [x, y, z].join("/")));
            }
        }
        filters.retain(|f| check_filter(f).is_ok());
        // Names with every level that tells these filters apart: `c` stands for "any other level".
        let mut names = std::vec![
            String::from("$a"),
            String::from("$a/b"),
            String::from("$a/c"),
            String::from("$a/b/c")
        ];
        for x in ["a", "b", "c", ""] {
            names.push(x.into());
            for y in ["a", "b", "c"] {
                names.push([x, y].join("/"));
                for z in ["a", "b", "c"] {
                    names.push([x, y, z].join("/"));
                    names.push([x, y, z, "c"].join("/"));
                }
            }
        }
        for f in &filters {
            for allowed in &filters {
                let truth = names.iter().all(|n| !matches(f, n) || matches(allowed, n));
                assert_eq!(is_subset(f, allowed), truth, "{f} within {allowed}");
            }
        }
    }

    #[test]
    fn a_share_falls_apart_into_name_and_filter() {
        assert_eq!(shared("$share/group/a/#"), Some(("group", "a/#")));
        assert_eq!(shared("$shared/group/a"), None);
        assert_eq!(shared("a/$share/b"), None);
    }
}
