//! What published chat templates expect of Jinja2 and Python and minijinja does differently. Only the language is mended
//! here; what the templates are given is `template.rs`.

use std::borrow::Cow;

use jiff::civil::DateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value, from_args};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use super::error::Refusal;
use super::tojson::tojson;

/// An environment in which chat templates behave as under Hugging Face `transformers`.
pub(super) fn environment() -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.set_undefined_behavior(UndefinedBehavior::Lenient);
    env.set_unknown_method_callback(method);
    env.set_formatter(|out, state, value| match python_word(value) {
        Some(word) => out.write_str(word).map_err(Error::from),
        None => minijinja::escape_formatter(out, state, value),
    });
    env.add_function("raise_exception", |said: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "refused").with_source(Refusal(said)))
    });
    env.add_filter("tojson", tojson);
    env.add_filter("length", length);
    env.add_filter("count", length);
    env.add_filter("string", |value: Value| match python_word(&value) {
        Some(word) => word.to_owned(),
        None => value.to_string(),
    });
    // Python cannot iterate over none.
    env.add_test("iterable", |value: Value| !value.is_none() && value.try_iter().is_ok());
    Ok(env)
}

/// `strftime_now` for a clock that stands still.
pub(super) fn strftime_now(now: DateTime) -> Value {
    Value::from_function(move |format: String| {
        jiff::fmt::strtime::format(&format, now).map_err(|error| {
            Error::new(ErrorKind::InvalidOperation, format!("bad time format '{format}'")).with_source(error)
        })
    })
}

/// minijinja does not know `{% generation %}`, which marks what is trained on. A condition that always holds takes its
/// place, since it treats white space as the tag would.
pub(super) fn replace_generation_tags(source: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for (start, _) in source.match_indices("{%") {
        if start < done {
            continue;
        }
        let inside = &source[start + 2..];
        let Some(length) = inside.find("%}") else { break };
        let inside = &inside[..length];
        let word = inside.trim_matches(['-', '+']).trim();
        let other = match word {
            "generation" => "if true",
            "endgeneration" => "endif",
            _ => continue,
        };
        out.push_str(&source[done..start + 2]);
        out.push_str(&inside.replacen(word, other, 1));
        done = start + 2 + length;
    }
    if done == 0 {
        return Cow::Borrowed(source);
    }
    out.push_str(&source[done..]);
    Cow::Owned(out)
}

/// How Python writes what Rust writes otherwise.
fn python_word(value: &Value) -> Option<&'static str> {
    if value.is_none() {
        return Some("None");
    }
    match bool::try_from(value.clone()) {
        Ok(true) if value.kind() == minijinja::value::ValueKind::Bool => Some("True"),
        Ok(false) if value.kind() == minijinja::value::ValueKind::Bool => Some("False"),
        _ => None,
    }
}

/// Jinja2 counts what is undefined as empty.
fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value
        .len()
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("a {} has no length", value.kind())))
}

/// Methods of Python's strings that minijinja's own collection lacks; that one is asked for all others.
fn method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let Some(text) = value.as_str() else {
        return minijinja_contrib::pycompat::unknown_method_callback(state, value, name, args);
    };
    match name {
        "removeprefix" => {
            let (affix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_prefix(affix).unwrap_or(text)))
        }
        "removesuffix" => {
            let (affix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_suffix(affix).unwrap_or(text)))
        }
        "partition" => {
            let (by,): (&str,) = from_args(args)?;
            let (before, after) = text.split_once(by).map_or((text, None), |(a, b)| (a, Some(b)));
            Ok(strings(&[before, after.map_or("", |_| by), after.unwrap_or("")]))
        }
        "rpartition" => {
            let (by,): (&str,) = from_args(args)?;
            let (before, after) = text.rsplit_once(by).map_or((None, text), |(a, b)| (Some(a), b));
            Ok(strings(&[before.unwrap_or(""), before.map_or("", |_| by), after]))
        }
        "rsplit" => rsplit(text, args),
        "index" => {
            let (what,): (&str,) = from_args(args)?;
            let at = text
                .find(what)
                .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "substring not found"))?;
            Ok(Value::from(text[..at].chars().count()))
        }
        "casefold" => Ok(Value::from(text.to_lowercase())),
        _ => minijinja_contrib::pycompat::unknown_method_callback(state, value, name, args),
    }
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (by, most, rest): (Option<&str>, Option<i64>, Rest<Value>) = from_args(args)?;
    if !rest.is_empty() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    // Python: a negative count means no limit.
    let pieces = most
        .and_then(|most| usize::try_from(most).ok())
        .map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<&str> = match by {
        Some(by) => text.rsplitn(pieces, by).collect(),
        None => text.split_whitespace().rev().collect(),
    };
    parts.reverse();
    Ok(strings(&parts))
}

fn strings(parts: &[&str]) -> Value {
    parts.iter().copied().map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn eval(source: &str) -> String {
        environment()
            .unwrap()
            .render_str(source, minijinja::context! {})
            .unwrap()
    }

    #[test]
    fn speaks_python() {
        assert_eq!(
            eval("{{ true }} {{ none }} {{ nothing }} {{ false | string }}"),
            "True None  False"
        );
        assert_eq!(
            eval("{{ nothing | length }} {{ none is iterable }} {{ [] is iterable }}"),
            "0 False True"
        );
        assert_eq!(eval("{{ 'a.b.c'.rsplit('.', 1) | join('|') }}"), "a.b|c");
        assert_eq!(eval("{{ 'a=b=c'.partition('=') | join('|') }}"), "a|=|b=c");
        assert_eq!(eval("{{ 'a=b=c'.rpartition('=') | join('|') }}"), "a=b|=|c");
        assert_eq!(
            eval("{{ 'xab'.removeprefix('x').removesuffix('b') }} {{ 'ab'.index('b') }}"),
            "a 1"
        );
        assert_eq!(
            eval("{{ ' x '.strip() }}{{ {'a': 1}.get('b') }}{{ {'a': 1}.items() | length }}"),
            "xNone1"
        );
    }

    #[test]
    fn generation_tags_keep_their_white_space() {
        let source = "a {%- generation -%} b {% endgeneration %}\nc {% if x %}{% endif %}";
        assert_eq!(
            replace_generation_tags(source),
            "a {%- if true -%} b {% endif %}\nc {% if x %}{% endif %}"
        );
        assert!(matches!(
            replace_generation_tags("{{ 'generation' }}"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn the_clock_stands_still() {
        let mut env = environment().unwrap();
        env.add_global(
            "strftime_now",
            strftime_now(jiff::civil::date(2026, 1, 5).at(9, 7, 0, 0)),
        );
        let said = env
            .render_str("{{ strftime_now('%d %b %Y, %H:%M, %-d %B') }}", ())
            .unwrap();
        assert_eq!(said, "05 Jan 2026, 09:07, 5 January");
        assert!(env.render_str("{{ strftime_now('%!') }}", ()).is_err());
    }
}
