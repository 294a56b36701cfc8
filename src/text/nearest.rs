//! The name most like what was typed, for "did you mean". Knows no names itself.

/// Similarity (Jaro-Winkler, 0 to 1) from which a name is worth proposing.
const NEAR: f64 = 0.7;

/// The one of `names` that is most like `typed`, if any is.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let likened = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &typed), name));
    let (likeness, name) = likened.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= NEAR).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_what_is_near_is_proposed() {
        let names = ["temperature", "top-k", "top-p"];
        assert_eq!(nearest("Temprature", names), Some("temperature"));
        assert_eq!(nearest("xyzzy", names), None);
        assert_eq!(nearest("top", []), None);
    }
}
