//! Finds the end of a terminal control sequence. Decides nothing about ordinary characters.
//!
//! Written over characters rather than with `vte`, which works on bytes, knows only the 7-bit forms and keeps a string
//! sequence open across lines: here the 8-bit forms are known, and a line break always ends a sequence, so that one
//! stray introducer cannot hide the rest of a message.
//!
//! The states are those of Paul Williams' "A parser for DEC's ANSI-compatible video terminals".

const ESC: char = '\u{1B}';
const BEL: char = '\u{7}';
/// CAN and SUB abort any sequence.
const CANCEL: char = '\u{18}';
const SUBSTITUTE: char = '\u{1A}';
/// String terminator, 8-bit form.
const ST: char = '\u{9C}';

/// Whether this character can begin a control sequence.
pub(super) fn is_introducer(c: char) -> bool {
    matches!(c, ESC | '\u{90}' | '\u{98}' | '\u{9B}' | '\u{9D}'..='\u{9F}')
}

/// The text after the control sequence whose introducer was `introducer` and whose remainder begins `rest`.
/// A sequence that the end of the text cuts short reaches to the end.
pub(super) fn skip(introducer: char, rest: &str) -> &str {
    match introducer {
        ESC => skip_escape(rest),
        '\u{9B}' => skip_csi(rest),
        _ => skip_string(rest),
    }
}

fn skip_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        Some('[') => skip_csi(chars.as_str()),
        // OSC, DCS, SOS, PM, APC.
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars.as_str()),
        Some('\u{20}'..='\u{2F}') => {
            let after = chars.as_str().trim_start_matches(|c| matches!(c, '\u{20}'..='\u{2F}'));
            after
                .strip_prefix(|c| matches!(c, '\u{30}'..='\u{7E}'))
                .unwrap_or(after)
        }
        Some('\u{30}'..='\u{7E}') => chars.as_str(),
        // Not a sequence: the character after the escape stands for itself.
        _ => rest,
    }
}

/// Parameters (`0`–`?`), intermediates (space–`/`), one final character (`@`–`~`).
fn skip_csi(rest: &str) -> &str {
    let after = rest.trim_start_matches(|c| matches!(c, '\u{20}'..='\u{3F}'));
    after
        .strip_prefix(|c| matches!(c, '\u{40}'..='\u{7E}'))
        .unwrap_or(after)
}

fn skip_string(rest: &str) -> &str {
    let mut chars = rest.chars();
    loop {
        let before = chars.as_str();
        match chars.next() {
            None => return "",
            Some(BEL | ST | CANCEL | SUBSTITUTE) => return chars.as_str(),
            Some('\n' | '\r') => return before,
            // `ESC \` ends the string; any other escape ends it too and begins a sequence of its own.
            Some(ESC) => return before.strip_prefix("\u{1B}\\").unwrap_or(before),
            Some(_) => {}
        }
    }
}
