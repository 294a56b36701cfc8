//! Finds the blocks of code in a message as it was written, for copying. How they look is the renderer's business.

/// What stands in the fenced blocks of a text, in their order, without the fences (section 4.5 of the `CommonMark` specification). A block that is still
/// open reaches to the end.
pub fn fenced(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence, String)> = None;
    for line in text.split_inclusive('\n') {
        let fence = Fence::of(line);
        match &mut open {
            None => open = fence.map(|fence| (fence, String::new())),
            Some((opening, _)) if fence.is_some_and(|fence| fence.closes(*opening)) => {
                blocks.extend(open.take().map(|(_, code)| code));
            }
            Some((opening, code)) => {
                let spaces = line.bytes().take(opening.indent).take_while(|b| *b == b' ').count();
                code.push_str(&line[spaces..]);
            }
        }
    }
    blocks.extend(open.map(|(_, code)| code));
    blocks
}

/// A line that opens or closes a block.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '>', '\t']);
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        let info = text[length..].trim();
        let opens = length >= 3 && !(mark == '`' && info.contains('`'));
        opens.then_some(Self {
            mark,
            length,
            indent: line.len() - text.len(),
            bare: info.is_empty(),
        })
    }

    fn closes(self, opening: Self) -> bool {
        self.bare && self.mark == opening.mark && self.length >= opening.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_as_they_were_written() {
        let text = "Look:\n```rust\nfn main() {}\n```\nand\n\n- in a list\n  ~~~\n  a\n    b\n  ~~~\n````\n```\n````\n```sh\nopen";
        assert_eq!(fenced(text), ["fn main() {}\n", "a\n  b\n", "```\n", "open"]);
        assert!(fenced("no `code` here, ``nor`` here").is_empty());
    }
}
