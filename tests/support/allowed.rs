//! What quipu may write to a terminal: a list of the sequences that its frames are made of. Everything else is a breach, whatever said
//! it. Written over bytes and without a parser of ours or of ratatui's, so that both are held to it.

use std::collections::BTreeSet;

/// A cursor move, colours and text attributes: all that a frame needs between its cells.
const CSI_FINAL: &[u8] = b"Hm";

/// Modes that may be switched on and off: the other screen, the cursor, pastes in brackets, the mouse, synchronized frames.
const MODES: &[&str] = &["1049", "25", "2004", "1000", "1002", "1003", "1006", "2026"];

/// Sequences without parameters that may come once in a while, whole: clearing the screen, the end of a string that another program left
/// open, and asking for keys to be told apart and not any more.
const WHOLE: &[&str] = &["\x1b[2J", "\x1b\\", "\x1b[>1u", "\x1b[<1u"];

/// The sequences in `bytes` that quipu has no business to write, each once.
pub fn breaches(bytes: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let text = String::from_utf8_lossy(bytes);
    let mut rest: &str = &text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\x1b' => {
                let (length, allowed) = sequence(rest);
                if !allowed {
                    found.insert(rest[..length].escape_debug().to_string());
                }
                length
            }
            // Frames move the cursor by sequences: neither line feeds nor anything else below a blank is needed.
            c if c.is_control() && !matches!(c, '\r' | '\n') => {
                found.insert(c.escape_debug().to_string());
                c.len_utf8()
            }
            // What reorders or hides text.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' | '\u{fffe}' | '\u{ffff}' => {
                found.insert(c.escape_debug().to_string());
                c.len_utf8()
            }
            c => c.len_utf8(),
        };
        rest = &rest[length..];
    }
    found
}

/// The length of the sequence that `text` begins with, and whether it is allowed.
fn sequence(text: &str) -> (usize, bool) {
    if let Some(whole) = WHOLE.iter().find(|whole| text.starts_with(**whole)) {
        return (whole.len(), true);
    }
    let Some(body) = text.strip_prefix("\x1b[") else {
        let length = text.char_indices().nth(2).map_or(text.len(), |(at, _)| at);
        return (length, false);
    };
    let parameters = body
        .find(|c: char| !matches!(c, '0'..='9' | ';' | ':' | '?' | '>' | '<' | '='))
        .unwrap_or(body.len());
    let end = body[parameters..].chars().next().map_or(0, char::len_utf8);
    let (parameters, last) = (&body[..parameters], &body[parameters..parameters + end]);
    let length = 2 + parameters.len() + end;
    let mode = parameters.strip_prefix('?').is_some_and(|mode| MODES.contains(&mode)) && matches!(last, "h" | "l");
    let plain = parameters.chars().all(|c| matches!(c, '0'..='9' | ';' | ':'))
        && last.bytes().all(|byte| CSI_FINAL.contains(&byte))
        && !last.is_empty();
    (length, mode || plain)
}

/// Text that tries everything, piece by piece: titles, the clipboard, links, device control, reports, resets, forms of eight bits, cut
/// short, split by a line end, hidden, reordered, and towers of marks.
pub const HOSTILE: &[&str] = &[
    "\x1b]0;owned\x07",
    "\x1b]2;owned\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]52;c;?\x07",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]4;1;rgb:ff/00/00\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]777;notify;a;b\x07",
    "\x1bP$q\"p\x1b\\",
    "\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\",
    "\x1b_Ga=T,f=100;AAAA\x1b\\",
    "\x1b^private\x1b\\",
    "\x1bXstring\x1b\\",
    "\x1b[2J",
    "\x1b[H",
    "\x1b[3J",
    "\x1b[6n",
    "\x1b[c",
    "\x1b[>c",
    "\x1b[?1049l",
    "\x1b[?2004l",
    "\x1b[?1003h",
    "\x1b[31m",
    "\x1b[8m",
    "\x1b[1;1H",
    "\x1b[10A",
    "\x1b[20t",
    "\x1b[>4;2m",
    "\x1bc",
    "\x1b7\x1b8",
    "\x1bM",
    "\x1b(0",
    "\x1b#8",
    "\x1b[",
    "\x1b",
    "\x1b]",
    "\x1b[38;2;1;2",
    "\u{9b}31m",
    "\u{9d}0;owned\u{9c}",
    "\u{90}q\u{9c}",
    "\u{9b}",
    "\u{85}",
    "\x07",
    "\x08",
    "\x00",
    "\x0b\x0c",
    "\x7f",
    "\r",
    "\r\n",
    "\t",
    "\n\n",
    "\u{202e}txt.exe",
    "\u{2066}a\u{2069}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{e0041}\u{e007f}",
    "\u{ad}",
    "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\u{fffd}",
    "\u{fff9}x\u{fffb}",
    "\u{2028}",
    "\u{2029}",
    "日本語",
    "👩‍👩‍👧‍👦",
    "❤\u{fe0f}",
    "🏳\u{fe0f}\u{200d}🌈",
    "שלום",
    "مرحبا",
    "\u{e000}",
    "\u{10ffff}",
];
