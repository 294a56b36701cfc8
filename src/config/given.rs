//! A value as a source gives it: typed in the file, a word in the environment. Says how it reads as text, number or switch.

use toml::de::DeValue;

/// A value before anyone knows what it should be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'a> {
    /// With TOML's types, which must be the right ones.
    Typed(&'a DeValue<'a>),
    /// A bare word, which is what it can be read as.
    Word(&'a str),
}

impl<'a> Given<'a> {
    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Typed(value) => value.as_str(),
            Self::Word(word) => Some(word),
        }
    }

    /// A number in decimal, as the parameters of the domain read it.
    pub(super) fn number(self) -> Option<String> {
        match self {
            Self::Typed(DeValue::Integer(n)) => Some(i64::from_str_radix(n.as_str(), n.radix()).ok()?.to_string()),
            Self::Typed(DeValue::Float(x)) => Some(x.as_str().to_owned()),
            Self::Typed(_) => None,
            Self::Word(word) => Some(word.trim().to_owned()),
        }
    }

    /// Text, number, switch or list as one would type it behind a flag.
    pub(super) fn word(self) -> Option<String> {
        match self {
            Self::Typed(DeValue::Boolean(on)) => Some(on.to_string()),
            Self::Typed(DeValue::Array(items)) => {
                let words = items.iter().map(|item| Given::Typed(item.get_ref()).word());
                words.collect::<Option<Vec<_>>>().map(|words| words.join(","))
            }
            _ => self.text().map(str::to_owned).or_else(|| self.number()),
        }
    }

    /// A text as the domain reads lists, or a list of texts put into that form.
    pub(super) fn texts(self) -> Option<String> {
        match self {
            Self::Typed(DeValue::Array(items)) => {
                let texts = items.iter().map(|item| item.get_ref().as_str().map(escape));
                texts.collect::<Option<Vec<_>>>().map(|texts| texts.join(","))
            }
            _ => self.text().map(str::to_owned),
        }
    }

    pub(super) fn switch(self) -> Option<bool> {
        match self {
            Self::Typed(value) => value.as_bool(),
            Self::Word("true" | "1" | "on" | "yes") => Some(true),
            Self::Word("false" | "0" | "off" | "no") => Some(false),
            Self::Word(_) => None,
        }
    }

    /// Whether it is a text although a number would have done.
    pub(super) fn is_quoted_number(self) -> bool {
        matches!(self, Self::Typed(value) if value.as_str().is_some_and(|text| text.parse::<f64>().is_ok()))
    }
}

/// A text of a list, with what would end it early made harmless.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace(',', "\\,")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}
