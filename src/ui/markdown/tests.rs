//! Pages as they are shown and dressed, streams that end where rendering does, and input that means harm.

use std::fmt::Write as _;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use ratatui::style::Style;

use super::wrap::columns;
use super::*;
use crate::ui::theme::{ColorDepth, Role, load};

fn shown(source: &str, width: u16) -> String {
    let (theme, _) = load("quipu", None);
    render(source, width, &theme)
        .iter()
        .map(|line| line.to_string().trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn a_page_of_everything() {
    let source = "# Title\n\nSome *text* with **weight**, `code` and [a link](https://example.org/far/away).\n\n\
        - one\n- two\n  goes on\n  1. inner\n  2. second\n\n> quoted words that are long enough to wrap\n\n\
        ```rust\nfn main() {}\n    indented\n```\n\n---\n\n- [x] done\n- [ ] open\n\nlast  \nbreak <b>html</b>\n";
    insta::assert_snapshot!(shown(source, 36), @r"
    Title

    Some text with weight, code and a
    link (example.org).

    • one
    • two
      goes on
      1. inner
      2. second

    ▎ quoted words that are long enough
    ▎ to wrap

    rust
    fn main() {}
        indented

    ────────────────────────────────────

    • ☑ done
    • ☐ open

    last
    break <b>html</b>
    ");
}

#[test]
fn formulas_and_footnotes() {
    let source = "Inline $x^2$, \\(a_1\\) and \\[ \\frac{a}{b} \\] stand[^1] here[^why].\n\n$$\n\\sum_{i=1}^n i\n$$\n\n\
        It costs $5 or $10, `$x$`, and \\(never ends.\n\n[^1]: The first\n    note.\n[^why]: Because.\n";
    insta::assert_snapshot!(shown(source, 60), @r"
    Inline x², a₁ and a/b stand¹ here[^why].

    ∑ᵢ₌₁ⁿ i

    It costs $5 or $10, `$x$`, and (never ends.

    ¹ The first
      note.

    [^why] Because.
    ");
}

#[test]
fn a_table_fits_its_line() {
    let source = "| country | capital |\n|---|--:|\n| France | Paris |\n| Bolivia, which has two of them | Sucre |\n";
    insta::assert_snapshot!(shown(source, 24), @r"
    country        │ capital
    ───────────────┼────────
    France         │   Paris
    Bolivia, which │   Sucre
    has two of     │
    them           │
    ");
}

#[test]
fn code_that_is_too_long_goes_on_with_a_mark() {
    insta::assert_snapshot!(shown("```\nlet value = compute(first, second);\n```", 16), @r"
    let value = comp
    ↪ ute(first, sec
    ↪ ond);
    ");
}

/// One letter for the role that each cell is dressed as; a dot for running text.
fn roles(source: &str, width: u16) -> String {
    const LETTERS: &[(Role, char)] = &[
        (Role::Text, '.'),
        (Role::Dim, 'd'),
        (Role::Heading, 'H'),
        (Role::Emphasis, 'i'),
        (Role::Strong, 'b'),
        (Role::Struck, 's'),
        (Role::Code, 'c'),
        (Role::CodeBlock, 'C'),
        (Role::CodeKeyword, 'K'),
        (Role::CodeFunction, 'F'),
        (Role::CodeLabel, 'l'),
        (Role::Quote, 'q'),
        (Role::ListMarker, 'm'),
        (Role::Link, 'a'),
        (Role::Rule, 'r'),
        (Role::TableBorder, 't'),
    ];
    // A theme in which every role has a colour of its own.
    let folder = tempfile::tempdir().unwrap();
    let mut file = "[roles]\n".to_owned();
    for (n, (_, name)) in Role::ALL.iter().enumerate() {
        writeln!(file, "{name} = \"#0000{n:02x}\"").unwrap();
    }
    std::fs::write(folder.path().join("roles.toml"), file).unwrap();
    let (theme, warnings) = load("roles", Some(folder.path()));
    assert_eq!(warnings, Vec::<String>::new());

    let letter = |style: Style| {
        let role = LETTERS.iter().find(|(role, _)| theme.style(*role).fg == style.fg);
        role.map_or('?', |(_, letter)| *letter)
    };
    let row = |line: &Line<'_>| {
        let cells = line.spans.iter().flat_map(|span| {
            let letter = letter(span.style);
            span.content.chars().map(move |c| if c == ' ' { ' ' } else { letter })
        });
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    render(source, width, &theme).iter().map(row).collect()
}

const DRESSED: &str = "# Title with `code`\n\nSome *text* with **weight**, `code`, ~~not~~ and [a link](https://example.org/far).\n\n\
    1. > quoted **words**\n2. [x] done\n\n```rust\nfn main() {}\n```\n\n---\n\n| a | b |\n|---|---|\n| c | *d* |\n";

#[test]
fn every_part_is_dressed_as_what_it_is() {
    insta::assert_snapshot!(shown(DRESSED, 40), @r"
    Title with code

    Some text with weight, code, not and a
    link (example.org).

    1. ▎ quoted words
    2. ☑ done

    rust
    fn main() {}

    ────────────────────────────────────────

    a │ b
    ──┼──
    c │ d
    ");
    insta::assert_snapshot!(roles(DRESSED, 40), @r"
    HHHHH HHHH cccc

    .... iiii .... bbbbbb. cccc. sss ... a
    aaaa ddddddddddddd.

    mm q qqqqqq bbbbb
    mm m ....

    llll
    KK FFFFCC CC

    rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr

    b t b
    ttttt
    . t i
    ");
}

#[test]
fn deep_lists_keep_their_markers() {
    let items: Vec<_> = (0..12).map(|n| format!("{}- {n}\n", "  ".repeat(n))).collect();
    insta::assert_snapshot!(shown(&(items.concat() + "\nend"), 40), @r"
    • 0
      • 1
        • 2
          • 3
            • 4
              • 5
                • 6
                  • 7
                    • 8
                    • 9
                    • 10
                    • 11

    end
    ");
}

#[test]
fn items_begin_with_whatever_stands_in_them() {
    let source = "- > quote\n- # head\n-\n- ```\n  code\n  ```\n- - twice\n  - again\n\n  after\n";
    insta::assert_snapshot!(shown(source, 40), @r"
    • ▎ quote
    • head
    •
    • code
    • • twice
      • again

      after
    ");
}

#[test]
fn html_is_text() {
    let source = "before\n\n<div>\n<b>x</b>\n</div>\n\nafter <i>y</i> &lt;z&gt;\n";
    insta::assert_snapshot!(shown(source, 40), @r"
    before

    <div>
    <b>x</b>
    </div>

    after <i>y</i> <z>
    ");
}

#[test]
fn wide_characters_keep_tables_straight() {
    let source = "| 名前 | b |\n|:-:|---|\n| 日本語テキスト | 👍🏽 |\n| لا | x |\n";
    insta::assert_snapshot!(shown(source, 14), @r"
      名前    │ b
    ──────────┼───
    日本語テ  │ 👍🏽
     キスト   │
       لا     │ x
    ");
}

#[test]
fn a_column_is_enough() {
    let source = "# h\n- a 日 b\n> q\n\n| a | b |\n|--|--|\n| c | d |\n\n```\nxy\n```\n---\n";
    insta::assert_snapshot!(shown(source, 1).replace('\n', " "), @"h  a 日 b  q  a │ b c │ d  x y  ─");
}

#[test]
fn hostile_nesting_ends_soon() {
    // Each takes milliseconds; were one quadratic, the test would visibly hang.
    for open in [
        ">", "> ", "[", "*", "- ", "> - ", "1. ", "![", "`", "_", "<a>", "<!--", "[](", "[a](b)", "**a** ", "a **",
        "|", "~~", "*a_ ", "&", "\\", "- a\n", "a|b\n", "[a]: b\n", "[[a]",
    ] {
        let source = open.repeat(20_000);
        let (theme, _) = load("quipu", None);
        let lines = render(&source, 20, &theme);
        assert!(lines.iter().all(|line| columns(&line.to_string()) <= 20), "{open}");
    }
    let pictures = "![".repeat(20_000) + &"a](b)".repeat(20_000);
    let stairs: String = (0..1000).map(|n| " ".repeat(2 * n) + "- a\n").collect();
    for source in [pictures, stairs] {
        let (theme, _) = load("quipu", None);
        assert!(!render(&source, 20, &theme).is_empty());
    }
}

/// Markdown and where a stream cuts it: anywhere, within marks too.
fn streamed() -> impl Strategy<Value = Vec<String>> {
    let marks = [
        "\n",
        "\n\n",
        "# ",
        "- ",
        "  - ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "```\n",
        "```rust\n",
        "~~~\n",
        "    ",
        "\t",
        "| a | b |\n",
        "| 日本 | b |\n",
        "|日",
        "|---|---|\n",
        "---\n",
        "===\n",
        "***",
        "**",
        "*",
        "_",
        "`",
        "~~",
        "[x]: y\n",
        "[x]",
        "[x",
        "]: ",
        "](u)",
        "![",
        "<div>\n",
        "<!-- ",
        " -->",
        "<a>",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<script>\n",
        "</script>\n",
        "&amp;",
        "\\",
        "  \n",
        "日本",
        "👩‍👧",
        "- [ ] ",
        "a[i]: ",
        "$",
        "$$\n",
        "$x$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "[^1]",
        "[^1]: ",
        "[^a",
        "\u{a0}",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(marks.to_vec()).prop_map(str::to_owned),
        1 => "[a-z ]{1,12}",
    ];
    let cuts = proptest::collection::vec(1_usize..12, 1..60);
    (proptest::collection::vec(piece, 0..40), cuts).prop_map(|(pieces, cuts)| {
        let source: Vec<char> = pieces.concat().chars().collect();
        let mut rest = source.as_slice();
        let mut chunks = Vec::new();
        for cut in cuts.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at(cut.min(rest.len()));
            chunks.push(chunk.iter().collect());
            rest = after;
        }
        chunks
    })
}

#[test]
fn a_stream_follows_whatever_changes() {
    let (night, paper) = (load("night", None).0, load("paper", None).0);
    let source = "one\n\ntwo\n\nthree [x]\n\n";
    let defined = format!("{source}[x]: https://example.org\n");
    let mut live = Live::default();
    // Growth, another width, another theme, the same name with other colours, a late definition, another text.
    for (text, width, theme) in [
        (source, 30, &night),
        (source, 12, &night),
        (source, 12, &paper),
        (source, 12, &paper.clone().degrade(ColorDepth::None)),
        (&defined, 12, &paper),
        ("another", 12, &paper),
        ("", 12, &paper),
    ] {
        assert_eq!(
            live.update(text, width, theme),
            render(text, width, theme),
            "{text:?} at {width}"
        );
    }
}

#[test]
fn what_may_yet_become_something_else_is_not_frozen() {
    let (theme, _) = load("quipu", None);
    for source in [
        // A table of one column until the second line has a second.
        "a\n|b\n|---|---|\n\nc\n",
        // A rule, an item, a heading until a word follows.
        "a\n\n****b**\n\n-c\n\n#d\n\ne\n",
        // A title beneath its words.
        "a\n\nb\n---\nc\n===\nd\n",
        // A definition, which changes what came before, and then is none.
        "[x] a\n\nb\n\n[x]: y\nz\n\n[x]: y \"t\" z\n",
    ] {
        let mut live = Live::default();
        for (end, c) in source.char_indices() {
            let so_far = &source[..end + c.len_utf8()];
            assert_eq!(
                live.update(so_far, 20, &theme),
                render(so_far, 20, &theme),
                "{so_far:?}"
            );
        }
        assert!(live.frozen() > 0 || source.contains("]:"), "{source:?}");
    }
}

#[test]
fn an_index_before_a_colon_defines_no_link() {
    let (theme, _) = load("quipu", None);
    let mut live = Live::default();
    let source = "Some text.\n\n```python\nif a[i]:\n    pass\n```\n\n".repeat(20);
    live.update(&source, 40, &theme);
    assert!(
        live.frozen() > source.len() / 2,
        "{} of {}",
        live.frozen(),
        source.len()
    );
}

#[test]
fn lines_of_code_are_frozen_one_by_one() {
    let (theme, _) = load("quipu", None);
    for (before, after) in [
        ("", ""),
        ("text\n\n", "\n[x]: y\n"),
        ("\n\n  ~~~~\n~~~\n", "~~~~\n- item\n\nend\n"),
        ("- item\n", "```\ntext\n"),
        ("```\nfirst\n```\n", "```\n\n```\n\n```\n"),
    ] {
        let code = "a = [x]\n\n    # not a title, and too long for one line\n`````x\n- b\n".repeat(6);
        let source = format!("{before}```rust title\n{code}{after}");
        let mut live = Live::default();
        for (end, c) in source.char_indices() {
            let so_far = &source[..end + c.len_utf8()];
            let lines = live.update(so_far, 20, &theme);
            assert_eq!(lines, render(so_far, 20, &theme), "{so_far:?}");
            if end == before.len() + code.len() {
                assert!(live.frozen() > end / 2, "{} of {end}", live.frozen());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn streaming_ends_where_rendering_does(chunks in streamed(), width in 8_u16..50) {
        let (theme, _) = load("quipu", None);
        let mut live = Live::default();
        let mut source = String::new();
        for chunk in chunks {
            source.push_str(&chunk);
            prop_assert_eq!(live.update(&source, width, &theme), render(&source, width, &theme), "{:?}", source);
        }
    }

    #[test]
    fn streaming_code_ends_where_rendering_does(
        before in proptest::sample::select(vec!["", "\n", "text\n\n", "- item\n", "  "]),
        fence in proptest::sample::select(vec!["```\n", "```rust\n", "~~~~ a b\n", "`````\n"]),
        pieces in proptest::collection::vec(proptest::sample::select(vec![
            "a\n", "a", "\n", " ", "   b\n", "`", "``", "```\n", "~~~~\n", "`````", "[x]: y\n", "[x]", "- c\n", "a rather long line of it\n",
        ]), 0..40),
    ) {
        let (theme, _) = load("quipu", None);
        let mut live = Live::default();
        let mut source = before.to_owned();
        for piece in [fence].into_iter().chain(pieces) {
            source.push_str(piece);
            prop_assert_eq!(live.update(&source, 12, &theme), render(&source, 12, &theme), "{:?}", source);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen(chunks in streamed(), width in 1_u16..40) {
        let (theme, _) = load("quipu", None);
        for line in render(&chunks.concat(), width, &theme) {
            // A wide character on a line of one column has nowhere else to go.
            prop_assert!(columns(&line.to_string()) <= usize::from(width).max(2), "{:?}", line);
        }
    }
}
