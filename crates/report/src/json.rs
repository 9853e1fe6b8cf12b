//! Writing JSON: one value on one line.

use std::fmt::{self, Display, Write};

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// A whole number, in digits.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// An object with its members in order.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(crate) fn number(number: impl Display) -> Json {
        Json::Number(number.to_string())
    }

    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }
}

impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => quoted(text, f),
            Json::List(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Json::Object(members) => {
                f.write_char('{')?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}\"{name}\":{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn values_are_written_on_one_line() {
        let value = Json::Object(vec![
            ("a", Json::List(vec![Json::number(-1), Json::Null, Json::Bool(true)])),
            ("b", Json::text("x\"\\\n\u{7}é")),
            ("c", Json::List(vec![])),
        ]);
        assert_eq!(value.to_string(), r#"{"a":[-1,null,true],"b":"x\"\\\n\u0007é","c":[]}"#);
    }
}
