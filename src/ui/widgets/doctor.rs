//! What a doctor found, check by check: verdict and evidence, and beneath it what to do. On top what is being checked, or the sum.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::app::ward::Ward;
use crate::domain::examination::{Check, Finding, Verdict};
use crate::text::sanitize_line;
use crate::ui::markdown::wrap::{Piece, Prefix, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Columns of a verdict and a name.
const VERDICT: usize = 9;
const NAME: usize = 12;
/// Narrower boxes have the evidence beneath.
const ROOMY: usize = 60;

/// The lines of an examination at this width.
pub(in crate::ui) fn lines(ward: &Ward, look: Look<'_>, room: usize) -> Vec<Line<'static>> {
    let dim = look.theme.style(Role::Dim);
    let failed = look.theme.style(Role::NoticeError);
    let (words, style) = match (&ward.end, ward.now) {
        (Some(Ok(())), _) => (
            sum(&ward.findings),
            look.theme.style(Role::Overlay).add_modifier(Modifier::BOLD),
        ),
        (Some(Err(words)), _) => (sanitize_line(words).into_owned(), failed),
        (None, None) => ("beginning …".to_owned(), dim),
        (None, Some((check, part))) => {
            let part = part.map_or_else(String::new, |part| format!(" {:.0} %", part * 100.0));
            let done = ward.findings.len() + 1;
            let words = format!("{done} of {}: {}{part} …", Check::ALL.len(), check.question());
            (words, dim)
        }
    };
    let mut lines = wrap(&[Piece::new(words, style)], room, &Prefix::default());
    lines.push(Line::default());
    for finding in &ward.findings {
        lines.extend(one(finding, look, room));
    }
    lines
}

fn sum(findings: &[Finding]) -> String {
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    format!(
        "{} ok · {} warnings · {} failed · {} not applicable",
        count(Verdict::Ok),
        count(Verdict::Warning),
        count(Verdict::Failed),
        count(Verdict::NotApplicable)
    )
}

fn one(finding: &Finding, look: Look<'_>, room: usize) -> Vec<Line<'static>> {
    let plain = look.theme.style(Role::Overlay);
    let dim = look.theme.style(Role::Dim);
    let verdict = look.theme.style(match finding.verdict {
        Verdict::Ok => Role::NoticeInfo,
        Verdict::Warning => Role::NoticeWarn,
        Verdict::Failed => Role::NoticeError,
        Verdict::NotApplicable => Role::Dim,
    });
    let text = if finding.verdict == Verdict::NotApplicable {
        dim
    } else {
        plain
    };
    let head = [
        Span::styled(format!("{:VERDICT$}", finding.verdict), verdict),
        Span::styled(
            format!("{:NAME$}", finding.check.name()),
            text.add_modifier(Modifier::BOLD),
        ),
    ];
    let indent = if room < ROOMY { 2 } else { VERDICT + NAME };
    let blank = vec![Span::styled(" ".repeat(indent), plain)];
    let (mut lines, first) = if room < ROOMY {
        (vec![Line::from(head.to_vec())], blank.clone())
    } else {
        (Vec::new(), head.to_vec())
    };
    let evidence = sanitize_line(&finding.evidence).into_owned();
    let rest = blank.clone();
    lines.extend(wrap(&[Piece::new(evidence, text)], room, &Prefix { first, rest }));
    if !finding.remedy.is_empty() {
        let remedy = format!("→ {}", sanitize_line(&finding.remedy));
        let (first, rest) = (blank.clone(), blank);
        lines.extend(wrap(&[Piece::new(remedy, verdict)], room, &Prefix { first, rest }));
    }
    lines
}
