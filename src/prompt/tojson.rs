//! `tojson` as chat templates expect it: the very bytes of Python's `json.dumps`. Knows nothing of prompts.

use std::fmt::Write as _;

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde_json::Value as Json;

/// The filter, with the arguments that Hugging Face gives it: `ensure_ascii`, `indent`, `separators`, `sort_keys`.
#[allow(
    clippy::needless_pass_by_value,
    reason = "minijinja hands filters their arguments by value"
)]
pub(super) fn tojson(value: &Value, kwargs: Kwargs) -> Result<String, Error> {
    let json = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, "value is not JSON").with_source(error))?;
    let style = Style::from_kwargs(&kwargs)?;
    kwargs.assert_all_used()?;
    let mut out = String::new();
    style.value(&json, 0, &mut out);
    Ok(out)
}

/// How to write it.
struct Style {
    ascii: bool,
    indent: Option<String>,
    between_items: String,
    after_key: String,
    sort_keys: bool,
}

impl Style {
    fn from_kwargs(kwargs: &Kwargs) -> Result<Self, Error> {
        let indent = match kwargs.get::<Option<Value>>("indent")? {
            Some(value) if value.is_none() => None,
            Some(value) => Some(match value.as_usize() {
                // No honest template indents by more; a hostile one would fill memory.
                Some(columns) => " ".repeat(columns.min(16)),
                None => value.to_string(),
            }),
            None => None,
        };
        let separators = kwargs.get::<Option<Vec<String>>>("separators")?;
        // Python leaves no blank at the end of a line.
        let default = if indent.is_some() { "," } else { ", " };
        let (between_items, after_key) = match separators.as_deref() {
            None => (default.to_owned(), ": ".to_owned()),
            Some([items, key]) => (items.clone(), key.clone()),
            Some(_) => {
                let wrong = "separators must be a pair";
                return Err(Error::new(ErrorKind::InvalidOperation, wrong));
            }
        };
        Ok(Self {
            ascii: kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
            indent,
            between_items,
            after_key,
            sort_keys: kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        })
    }

    fn value(&self, json: &Json, depth: usize, out: &mut String) {
        match json {
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Number(number) => out.push_str(&number_text(number)),
            Json::String(text) => self.string(text, out),
            Json::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.before_item(index, depth + 1, out);
                    self.value(item, depth + 1, out);
                }
                self.before_end(items.is_empty(), depth, out);
                out.push(']');
            }
            Json::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                if self.sort_keys {
                    fields.sort_by_key(|(key, _)| *key);
                }
                out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    self.before_item(index, depth + 1, out);
                    self.string(key, out);
                    out.push_str(&self.after_key);
                    self.value(value, depth + 1, out);
                }
                self.before_end(fields.is_empty(), depth, out);
                out.push('}');
            }
        }
    }

    fn before_item(&self, index: usize, depth: usize, out: &mut String) {
        if index > 0 {
            out.push_str(&self.between_items);
        }
        self.new_line(depth, out);
    }

    fn before_end(&self, empty: bool, depth: usize, out: &mut String) {
        if !empty {
            self.new_line(depth, out);
        }
    }

    fn new_line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            for _ in 0..depth {
                out.push_str(indent);
            }
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{C}' => out.push_str("\\f"),
                _ if c < ' ' || (self.ascii && !matches!(c, ' '..='~')) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        // Writing to a string cannot fail.
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                _ => out.push(c),
            }
        }
        out.push('"');
    }
}

/// Python and Rust agree on a float's digits and on when to use an exponent, not on how to write it: `1e+16`, `1e-07`.
fn number_text(number: &serde_json::Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.to_string();
    };
    let text = format!("{float:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(below) => format!("{digits}e-{below:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use minijinja::{Environment, context};
    use pretty_assertions::assert_eq;

    fn json(expression: &str) -> String {
        let mut env = Environment::new();
        env.add_filter("tojson", super::tojson);
        env.render_str(&format!("{{{{ {expression} }}}}"), context! {}).unwrap()
    }

    #[test]
    fn writes_what_python_writes() {
        let object = r#"{"b": [1, 2.0, true, none], "a": "é<\"\n\\>🦙", "e": [], "o": {}}"#;
        assert_eq!(
            json(&format!("{object} | tojson")),
            r#"{"b": [1, 2.0, true, null], "a": "é<\"\n\\>🦙", "e": [], "o": {}}"#
        );
        assert_eq!(
            json(&format!("{object} | tojson(ensure_ascii=true, sort_keys=true)")),
            r#"{"a": "\u00e9<\"\n\\>\ud83e\udd99", "b": [1, 2.0, true, null], "e": [], "o": {}}"#
        );
        assert_eq!(
            json("[1, {'k': []}] | tojson(indent=2)"),
            "[\n  1,\n  {\n    \"k\": []\n  }\n]"
        );
        assert_eq!(json("{'a': [1, 2]} | tojson(separators=(',', ':'))"), "{\"a\":[1,2]}");
        assert_eq!(
            json("[1e16, 1.5e-7, 0.0001, 123456789.5] | tojson"),
            "[1e+16, 1.5e-07, 0.0001, 123456789.5]"
        );
    }
}
