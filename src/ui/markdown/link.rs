//! Where a link leads, in words beside its label: a label can lie, so no target stays hidden.

/// Longest target shown, in characters: enough for any host (253) and most paths; a picture within a link is far longer.
const LONGEST: usize = 256;

/// What to add to a link's label, unless the label says it already.
pub(super) fn told(label: &str, target: &str) -> Option<String> {
    let label = label.trim();
    let host = host(target);
    if target.is_empty() || label == target || label == host {
        return None;
    }
    let mut shown: String = host.chars().take(LONGEST).collect();
    if shown.len() < host.len() {
        shown.push('…');
    }
    Some(if label.is_empty() {
        format!("({shown})")
    } else {
        format!(" ({shown})")
    })
}

/// The part that says where a link leads: the host of a web address, else all of it.
fn host(target: &str) -> &str {
    let scheme = |name: &str| {
        let (scheme, rest) = target.split_at_checked(name.len())?;
        scheme.eq_ignore_ascii_case(name).then_some(rest)
    };
    let Some(rest) = scheme("https://").or_else(|| scheme("http://")) else {
        return target;
    };
    // Browsers take a backslash for a slash.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    // What stands before an '@' is a name for logging in, however much it looks like a host.
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if host.is_empty() { target } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_where_the_browser_would_go() {
        for (target, expected) in [
            ("https://example.org/far/away", "example.org"),
            ("HTTPS://example.org?q", "example.org"),
            ("http://example.org:8080#x", "example.org:8080"),
            ("https://good.example@evil.example/", "evil.example"),
            ("https://evil.example\\@good.example", "evil.example"),
            ("https:///x", "https:///x"),
            ("mailto:a@b.example", "mailto:a@b.example"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("a/b.md", "a/b.md"),
            ("é", "é"),
        ] {
            assert_eq!(host(target), expected, "{target}");
        }
    }

    #[test]
    fn only_what_the_label_does_not_say_is_added() {
        let told = |label, target| told(label, target).unwrap_or_default();
        assert_eq!(told("here", "https://example.org/a"), " (example.org)");
        assert_eq!(told("https://good.example", "https://evil.example"), " (evil.example)");
        assert_eq!(told("https://example.org/a", "https://example.org/a"), "");
        assert_eq!(told("example.org", "https://example.org/a"), "");
        assert_eq!(told("", "https://example.org"), "(example.org)");
        assert_eq!(told("x", &"y".repeat(300)).chars().count(), LONGEST + 4);
    }
}
