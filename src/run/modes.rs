//! The terminal's modes as bytes: what is switched on, and how every way out, the handler of fatal signals included, switches
//! it off again. Plain constants, because a signal handler may not put anything together.
//!
//! Meanings: xterm's control sequences for 1049 (other screen), 25 (cursor), 1002 and 1006 (buttons, wheel and dragging, in decimal), 2004
//! (bracketed paste); 2026 is synchronized output; `CSI > 1 u` asks for keys to be told apart as the kitty protocol does.

/// Switches off what a predecessor that was killed may have left on. Harmless where nothing is.
const CLEAN: &str = "\x1b\\\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[0m";

/// The other screen, empty, without a cursor until a frame places it, and pastes in brackets.
const OPEN: &str = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[?2004h";

/// Buttons and the wheel, and the pointer while a button is held. Not 1003: every movement of the mouse would wake the program.
const MOUSE: &str = "\x1b[?1002h\x1b[?1006h";

/// Shift-Enter told apart from Enter, Escape from the beginning of a sequence. Pushed without asking whether it is known:
/// a terminal that does not know it does nothing, and asking can take seconds.
const KEYS: &str = "\x1b[>1u";

/// Undoes all of it. The string terminator at the front ends a sequence that was cut in two.
pub(super) const LEAVE: &str =
    "\x1b\\\x1b[?2026l\x1b[<1u\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?1049l\x1b[?25h";

/// The same for a terminal that would print what it does not know.
pub(super) const LEAVE_PLAIN: &str =
    "\x1b\\\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?1049l\x1b[?25h";

/// Around a frame: it appears at once, and the cursor does not run about in it.
pub(super) const FRAME_BEGIN: &str = "\x1b[?2026h\x1b[?25l";
/// See [`FRAME_BEGIN`].
pub(super) const FRAME_END: &str = "\x1b[?2026l";

/// Clears the screen, for a frame that is drawn whole.
pub(super) const CLEAR: &str = "\x1b[0m\x1b[2J";

/// What a terminal is given, as far as it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modes {
    /// Whether the mouse is ours. Selecting text then takes Shift in most terminals.
    pub(super) mouse: bool,
    /// Whether the terminal is one that prints what it does not know.
    pub(super) plain: bool,
}

impl Modes {
    /// The modes for a terminal of this name, as `TERM` tells it.
    pub(super) fn new(mouse: bool, term: &str) -> Self {
        // The kernel's console: older ones print private sequences of the newer kind.
        Self {
            mouse,
            plain: term == "linux",
        }
    }

    /// Switches on what is wanted.
    pub(super) fn enter(self) -> String {
        let mouse = if self.mouse { MOUSE } else { "" };
        let keys = if self.plain { "" } else { KEYS };
        format!("{CLEAN}{OPEN}{mouse}{keys}")
    }

    /// Switches off everything.
    pub(super) fn leave(self) -> &'static str {
        if self.plain { LEAVE_PLAIN } else { LEAVE }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use vt100::{MouseProtocolMode, Parser};

    use super::*;

    fn terminal() -> Parser {
        Parser::new(NonZeroU16::new(5).unwrap(), NonZeroU16::new(20).unwrap(), 0)
    }

    #[test]
    fn leaving_undoes_entering() {
        for modes in [Modes::new(true, "xterm-256color"), Modes::new(false, "linux")] {
            let mut terminal = terminal();
            terminal.process(b"$ quipu");
            let before = terminal.screen().clone();
            terminal.process(modes.enter().as_bytes());
            let inside = terminal.screen();
            assert!(inside.alternate_screen() && inside.bracketed_paste() && inside.hide_cursor());
            assert_eq!(inside.mouse_protocol_mode() != MouseProtocolMode::None, modes.mouse);
            // A frame that was cut off in the middle.
            terminal.process(FRAME_BEGIN.as_bytes());
            terminal.process(b"\x1b[31mhello\x1b[3");
            terminal.process(modes.leave().as_bytes());
            let after = terminal.screen();
            assert!(!after.alternate_screen() && !after.bracketed_paste() && !after.hide_cursor());
            assert_eq!(after.mouse_protocol_mode(), MouseProtocolMode::None);
            assert_eq!(after.contents_formatted(), before.contents_formatted());
            assert_eq!(after.cursor_position(), before.cursor_position());
        }
    }

    #[test]
    fn what_a_predecessor_left_is_switched_off() {
        let mut terminal = terminal();
        terminal.process(Modes::new(true, "xterm").enter().as_bytes());
        terminal.process(b"\x1b[?1003h");
        terminal.process(Modes::new(false, "xterm").enter().as_bytes());
        assert_eq!(terminal.screen().mouse_protocol_mode(), MouseProtocolMode::None);
    }
}
