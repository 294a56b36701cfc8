//! A place in the conversation that does not depend on the width: so many letters into a message. Lines break elsewhere at
//! another width, and marks, borders and blanks come and go; letters and digits stay, in their order.

use ratatui::text::Line;

use crate::domain::MessageId;

use super::entry::Entry;

/// What stands on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    message: MessageId,
    spot: Spot,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Spot {
    /// So many lines above the text: the header, or what was thought.
    Above(u32),
    Text {
        /// Letters of the text on the lines above.
        letters: usize,
        /// Lines just above that have none, such as blank ones.
        blank: usize,
    },
    /// Under the text, so many lines from the end of the message.
    Under(u32),
}

impl Place {
    /// What stands on `line`, which is one of the entry's.
    pub(super) fn of(entry: &Entry, line: u32) -> Option<Self> {
        let lines = entry.body.lines();
        let at = line.checked_sub(entry.start())?;
        let spot = match at.checked_sub(entry.ahead()).map(|at| at as usize) {
            None => Spot::Above(at),
            Some(at) if at < lines.len() => {
                let above = &lines[..at];
                Spot::Text {
                    letters: above.iter().map(letters).sum(),
                    blank: above.iter().rev().take_while(|line| letters(line) == 0).count(),
                }
            }
            Some(_) => Spot::Under(entry.height().checked_sub(at)?),
        };
        Some(Self {
            message: entry.id,
            spot,
        })
    }

    /// The line on which it stands now; `None` where the message is not shown any more.
    pub(super) fn line(&self, entries: &[Entry]) -> Option<u32> {
        // Ids grow along a path.
        let at = entries.binary_search_by_key(&self.message, |entry| entry.id).ok()?;
        let entry = &entries[at];
        let within = match self.spot {
            // What was thought is folded and unfolded; its beginning stays.
            Spot::Above(at) => {
                if at < entry.ahead() {
                    at
                } else {
                    0
                }
            }
            Spot::Text { letters, blank } => entry.ahead() + line_of(entry.body.lines(), letters, blank),
            Spot::Under(left) => entry.height().saturating_sub(left),
        };
        Some(entry.start() + within)
    }
}

/// The line that has the letter after so many, or, of the lines without any before it, the one after `blank` of them.
fn line_of(lines: &[Line<'_>], wanted: usize, blank: usize) -> u32 {
    let mut above = 0;
    let mut found = 0;
    // Where the run of lines begins that have just the wanted letters above them.
    let mut run = None;
    for (at, line) in lines.iter().enumerate() {
        if above > wanted {
            break;
        }
        if above == wanted {
            let first = *run.get_or_insert(at);
            if at - first > blank {
                break;
            }
        }
        found = at;
        above += letters(line);
    }
    found as u32
}

/// Letters and digits on a line.
fn letters(line: &Line<'_>) -> usize {
    let text = line.iter().flat_map(|span| span.content.chars());
    text.filter(|c| c.is_alphanumeric()).count()
}
