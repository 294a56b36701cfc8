//! How lists among the sampling settings are written in one line: by people behind a flag, in the configuration, and back.

use super::{Bias, BiasedToken, Stage, WrongStage};

/// What stands for an empty list.
const OFF: &str = "off";

/// The texts between commas. A backslash takes the next character as it is, but `\n` and `\t` as line feed and tab. Blanks count.
/// `None` where a text is empty or the line ends in a backslash.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    if matches!(line.trim(), "" | OFF) {
        return Some(Vec::new());
    }
    let mut texts = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let text = texts.last_mut()?;
        match letter {
            ',' => texts.push(String::new()),
            '\\' => text.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => text.push(other),
        }
    }
    texts.iter().all(|text| !text.is_empty()).then_some(texts)
}

/// The line that [`split`] reads back.
pub(super) fn join(texts: &[String]) -> String {
    let lines: Vec<_> = texts.iter().map(|text| escape(text)).collect();
    match lines.as_slice() {
        // A list of the one text that means no list.
        [only] if only.trim() == OFF => format!("\\{only}"),
        lines => lines.join(","),
    }
}

fn escape(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            '\\' | ',' => line.extend(['\\', letter]),
            other => line.push(other),
        }
    }
    line
}

/// The stages of these names, each at most once.
///
/// # Errors
/// The name that is wrong, and how.
pub(super) fn read_stages(line: &str) -> Result<Vec<Stage>, WrongStage> {
    if matches!(line.trim(), "" | OFF) {
        return Ok(Vec::new());
    }
    Stage::list(line)
}

/// The line that [`read_stages`] reads back.
pub(super) fn stages(stages: &[Stage]) -> String {
    stages.iter().map(|stage| stage.name()).collect::<Vec<_>>().join(",")
}

/// Pairs of a token and what is added to its logit.
pub(super) fn read_biases(line: &str) -> Option<Vec<Bias>> {
    let pair = |text: &String| {
        let (token, bias) = text.rsplit_once('=')?;
        let bias: f32 = bias.trim().parse().ok()?;
        let token = match token.trim_start().strip_prefix('#').map(str::parse) {
            Some(Ok(id)) => BiasedToken::Id(id),
            _ if token.is_empty() => return None,
            _ => BiasedToken::Text(token.to_owned()),
        };
        // Towards infinity nothing else could ever be said.
        (!bias.is_nan() && bias < f32::INFINITY).then_some(Bias { token, bias })
    };
    split(line)?.iter().map(pair).collect()
}

/// The line that [`read_biases`] reads back.
pub(super) fn biases(biases: &[Bias]) -> String {
    let pair = |bias: &Bias| match &bias.token {
        BiasedToken::Id(id) => format!("#{id}={}", bias.bias),
        BiasedToken::Text(text) => format!("{text}={}", bias.bias),
    };
    join(&biases.iter().map(pair).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_read_back(texts in proptest::collection::vec("[a-z,\\\\\n\t =]{1,6}", 0..5)) {
            prop_assume!(texts.iter().all(|text| !text.trim().is_empty()));
            prop_assert_eq!(split(&join(&texts)), Some(texts));
        }
    }

    #[test]
    fn lists_are_read_as_people_write_them() {
        let texts = |line| split(line).unwrap_or_else(|| vec!["refused".to_owned()]);
        assert_eq!(texts("User:,\\n\\n"), ["User:", "\n\n"]);
        assert_eq!(texts("off"), [""; 0]);
        assert_eq!(join(&["off".to_owned()]), "\\off");
        assert_eq!(texts("\\off"), ["off"]);
        assert_eq!((split("a,,b"), split("a\\")), (None, None));
        assert_eq!(
            read_stages("Top_K, temperature"),
            Ok(vec![Stage::TopK, Stage::Temperature])
        );
        assert_eq!(read_stages("off"), Ok(Vec::new()));
        assert!(read_stages("top-k,top-k").is_err());
        let moved = read_biases(" yes=1.5,#12=-inf").unwrap();
        assert_eq!(moved[0].token, BiasedToken::Text(" yes".to_owned()));
        assert_eq!(
            (moved[1].token.clone(), moved[1].bias),
            (BiasedToken::Id(12), f32::NEG_INFINITY)
        );
        assert_eq!(biases(&moved), " yes=1.5,#12=-inf");
        for bad in ["yes", "yes=", "=1", "yes=nan", "yes=inf"] {
            assert_eq!(read_biases(bad), None, "{bad}");
        }
    }
}
