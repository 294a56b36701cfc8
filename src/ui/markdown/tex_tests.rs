//! Formulas as models write them.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[test]
fn formulas_read_as_on_paper() {
    for (tex, shown) in [
        ("x^2 + y^2 = z^2", "x² + y² = z²"),
        ("e^{i\\pi} + 1 = 0", "e^(iπ) + 1 = 0"),
        ("a_1, a_{n+1}", "a₁, aₙ₊₁"),
        ("\\frac{1}{2}", "½"),
        ("\\frac{a+b}{2c}", "(a+b)/(2c)"),
        ("\\frac{-b \\pm \\sqrt{b^2-4ac}}{2a}", "(−b ± √(b²−4ac))/(2a)"),
        ("\\sum_{i=1}^{n} i^3", "∑ᵢ₌₁ⁿ i³"),
        ("\\int_0^\\infty e^{-x}\\,dx = 1", "∫₀^∞ e⁻ˣ dx = 1"),
        ("\\lim_{x \\to 0} \\frac{\\sin x}{x}", "lim_(x → 0) (sin x)/x"),
        ("f'(x) = \\alpha \\cdot \\beta", "f′(x) = α · β"),
        ("\\mathbb{R}^n \\subseteq \\mathbb{C}", "ℝⁿ ⊆ ℂ"),
        ("\\left( \\frac{a}{b} \\right)^{2}", "( a/b )²"),
        ("\\vec{v} \\cdot \\hat{n}", "v\u{20d7} · n\u{302}"),
        ("90^\\circ", "90°"),
        ("\\sqrt[3]{8} = 2", "³√8 = 2"),
        ("\\text{if } x > 0", "if x > 0"),
        ("A = \\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}", "A =\n1 0\n0 1"),
        ("\\begin{aligned} a &= b \\\\ &= c \\end{aligned}", "a = b\n= c"),
        ("\\binom{n}{k}", "C(n, k)"),
        ("2\\sin\\theta", "2 sin θ"),
        ("\\unknown{x}", "\\unknownx"),
        ("50\\%", "50%"),
    ] {
        assert_eq!(unicode(tex).as_deref(), Some(shown), "{tex}");
    }
}

#[test]
fn what_is_no_formula_is_left_alone() {
    for tex in [
        "",
        "  ",
        "\\frac{a",
        "a}",
        "x^",
        "{",
        "\\",
        &"{".repeat(100),
        &"x".repeat(LONGEST + 1),
    ] {
        assert_eq!(unicode(tex), None, "{tex}");
    }
}

#[test]
fn prices_are_no_formulas() {
    for tex in ["5 or ", "5-", "10, `", "3 a day, or "] {
        assert!(!is_likely(tex), "{tex}");
    }
    for tex in ["x", "2", "2^n", "10 = x", "3\\times 4", "n - 1"] {
        assert!(is_likely(tex), "{tex}");
    }
}

#[test]
fn every_command_stands_once() {
    for (at, (name, _)) in crate::ui::markdown::signs::SIGNS.iter().enumerate() {
        assert!(
            !crate::ui::markdown::signs::SIGNS[..at]
                .iter()
                .any(|(other, _)| other == name),
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn anything_ends(tex in "[a-z0-9 \\\\{}^_&$'()\\[\\]-]{0,60}|(\\\\frac|\\\\sqrt|\\\\begin|\\\\text|\\{|\\}|\\^|_|x){0,40}") {
        if let Some(text) = unicode(&tex) {
            prop_assert!(!text.is_empty() && text.len() <= 64 * (tex.len() + 1));
        }
    }
}
