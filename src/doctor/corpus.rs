//! Texts to examine with: an ordinary one, and those at which tokenizers go wrong.

/// An ordinary text of some sixty tokens: prose, numbers, punctuation.
pub(super) const PROSE: &str = "A quipu is a record of cords and knots. Runners carried it along the roads of the Andes, from one \
     village to the next, and whoever could read it knew the story: how much maize there was, how many llamas, who was born \
     and who had died. In the year 1532, about 12,000 of them were kept.";

/// How many tokens of it are looked at.
pub(super) const LONGEST: usize = 64;

/// What to ask for in search of loops: something that takes more than a sentence.
pub(super) const QUESTION: &str = "Tell me a story about a llama.";

/// Texts at which tokenizers differ: spaces, digits, scripts, joined emoji, marks, quotes, code, and the names of special tokens.
pub(super) const HARD: &[&str] = &[
    "Hello, world!",
    " leading space",
    "trailing space ",
    "two  spaces   three",
    "tabs\tand\tmore\t\ttabs",
    "one\ntwo\n\nthree\n\n\nfour",
    "line\r\nfeeds\r\n",
    "\n",
    "   ",
    "don't can't I'll we've he'd it's",
    "DON'T CAN'T I'LL",
    "it\u{2019}s \u{201c}curly\u{201d} \u{2014} quotes\u{2026}",
    "1 12 123 1234 12345 1234567890",
    "3.14159 1,000,000 -42 1e-9 0x1F",
    "2026-11-21T17:30:00Z",
    "camelCase snake_case SCREAMING_CASE kebab-case",
    "fn main() { println!(\"{}\", 1 + 1); }",
    "if (a && b || !c) { return x[i++] <<= 2; }",
    "<html><body class=\"x\">&amp;</body></html>",
    "https://example.org/a/b?c=d&e=f#g",
    "name@example.org",
    "Stra\u{df}e, \u{c4}rger, na\u{ef}ve, caf\u{e9}",
    "cafe\u{301} with a combining mark",
    "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}!",
    "\u{393}\u{3b5}\u{3b9}\u{3ac} \u{3c3}\u{3bf}\u{3c5} \u{39a}\u{3cc}\u{3c3}\u{3bc}\u{3b5}",
    "\u{4f60}\u{597d}\u{ff0c}\u{4e16}\u{754c}\u{3002}",
    "\u{3053}\u{3093}\u{306b}\u{3061}\u{306f}\u{4e16}\u{754c}",
    "\u{c548}\u{b155}\u{d558}\u{c138}\u{c694}",
    "\u{645}\u{631}\u{62d}\u{628}\u{627} \u{628}\u{627}\u{644}\u{639}\u{627}\u{644}\u{645}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{5e2}\u{5d5}\u{5dc}\u{5dd}",
    "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \u{926}\u{941}\u{928}\u{93f}\u{92f}\u{93e}",
    "\u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35}\u{e0a}\u{e32}\u{e27}\u{e42}\u{e25}\u{e01}",
    "\u{1f44b}\u{1f30d} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f44d}\u{1f3fd} \u{1f1f5}\u{1f1ea}",
    "x\u{b2} + y\u{b2} = z\u{b2} \u{2248} \u{221a}2 \u{2211}\u{221e}",
    "no\u{a0}break\u{2009}thin\u{3000}wide",
    "zero\u{200b}width\u{feff}marks",
    "\u{1d4d6}\u{1d4db}\u{1d4e8}\u{1d4df}\u{1d4d7}\u{1d4e2}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "................!!!!!!!!????????",
    "antidisestablishmentarianism supercalifragilistic",
];
