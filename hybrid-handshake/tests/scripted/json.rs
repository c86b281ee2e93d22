//! JSON as the vector files have it: in the order of writing, one value a line.

use std::fmt;

pub enum Json {
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

pub fn hex(bytes: &[u8]) -> Json {
    Json::Text(hex::encode(bytes))
}

pub fn text(text: impl Into<String>) -> Json {
    Json::Text(text.into())
}

pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

impl Json {
    /// The value, indented by `depth` levels.
    fn write(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, depth, first| {
            f.write_str(if first { "\n" } else { ",\n" })?;
            write!(f, "{:width$}", "", width = 2 * depth)
        };
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    line(f, depth + 1, at == 0)?;
                    item.write(depth + 1, f)?;
                }
                line(f, depth, true)?;
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    line(f, depth + 1, at == 0)?;
                    write!(f, "\"{name}\": ")?;
                    value.write(depth + 1, f)?;
                }
                line(f, depth, true)?;
                f.write_str("}")
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, f)?;
        f.write_str("\n")
    }
}
