//! Every theme that ships, and every mistake in one that does not.

use std::fs;

use super::*;

/// Relative luminance, WCAG 2.1.
fn luminance(color: Color) -> f64 {
    let Color::Rgb(r, g, b) = color else {
        panic!("{color:?} is not a true colour")
    };
    let channel = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
}

fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_theme_that_ships_loads_without_a_word() {
    for (name, _) in BUILT_IN {
        let (theme, warnings) = load(name, None);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(theme.name, name);
    }
}

#[test]
fn quipu_uses_the_terminals_own_colours() {
    let (theme, _) = load("quipu", None);
    for (role, name) in Role::ALL {
        let style = theme.style(role);
        for color in [style.fg, style.bg].into_iter().flatten() {
            assert!(
                !matches!(color, Color::Rgb(..) | Color::Indexed(_)),
                "{name} has {color:?}"
            );
            // On a light or a dark ground one of these cannot be read.
            assert!(
                !matches!(color, Color::Black | Color::White | Color::Gray),
                "{name} has {color:?}"
            );
        }
    }
}

#[test]
fn true_colour_themes_can_be_read() {
    for (name, _) in BUILT_IN.into_iter().filter(|(name, _)| *name != "quipu") {
        let (theme, _) = load(name, None);
        let ground = theme.background().unwrap();
        for (role, role_name) in Role::ALL {
            let style = theme.style(role);
            let bg = style.bg.unwrap_or(ground);
            // Left to the terminal, either could be any colour on our ground.
            let fg = style.fg.unwrap_or_else(|| panic!("{name}: {role_name} has no colour"));
            assert!(
                !style.add_modifier.contains(Modifier::DIM),
                "{name}: {role_name} is dimmed by an unknown amount"
            );
            let secondary = [
                Role::Dim,
                Role::Placeholder,
                Role::Rule,
                Role::TableBorder,
                Role::Border,
                Role::GaugeEmpty,
            ];
            let least = if secondary.contains(&role) { 3.0 } else { 4.5 };
            let found = contrast(fg, bg);
            assert!(
                found >= least,
                "{name}: {role_name} has a contrast of {found:.2}, needs {least}"
            );
        }
    }
}

#[test]
fn high_contrast_is_high() {
    for name in ["summit", "noon"] {
        let (theme, _) = load(name, None);
        let ground = theme.background().unwrap();
        for (role, role_name) in Role::ALL {
            let style = theme.style(role);
            let found = contrast(style.fg.unwrap(), style.bg.unwrap_or(ground));
            let least = if matches!(role, Role::Rule | Role::TableBorder | Role::Border | Role::GaugeEmpty) {
                4.5
            } else {
                7.0
            };
            assert!(
                found >= least,
                "{name}: {role_name} has a contrast of {found:.2}, needs {least}"
            );
        }
    }
}

/// How a colour looks to eyes without the cones for long (`'p'`) or middle (`'d'`) waves: Machado, Oliveira and Fernandes 2009, severity
/// 1.0, on linear light.
fn seen_by(eyes: char, color: Color) -> [f64; 3] {
    let Color::Rgb(r, g, b) = color else {
        panic!("{color:?} is not a true colour")
    };
    let linear = [r, g, b].map(|c| (f64::from(c) / 255.0).powf(2.2));
    let matrix = match eyes {
        'p' => [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        _ => [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    };
    matrix.map(|row| {
        row.iter()
            .zip(linear)
            .map(|(m, c)| m * c)
            .sum::<f64>()
            .clamp(0.0, 1.0)
            .powf(1.0 / 2.2)
    })
}

#[test]
fn one_theme_tells_its_words_apart_to_every_eye() {
    let (theme, _) = load("lucid", None);
    let told_apart = [
        (Role::NoticeInfo, Role::NoticeWarn),
        (Role::NoticeWarn, Role::NoticeError),
        (Role::NoticeInfo, Role::NoticeError),
        (Role::CodeKeyword, Role::CodeString),
        (Role::CodeString, Role::CodeConstant),
        (Role::CodeFunction, Role::CodeConstant),
        (Role::Accent, Role::Link),
        (Role::UserName, Role::ModelName),
        (Role::GaugeFull, Role::GaugeEmpty),
    ];
    for eyes in ['p', 'd'] {
        for (one, other) in told_apart {
            let color = |role| seen_by(eyes, theme.style(role).fg.unwrap());
            let (a, b) = (color(one), color(other));
            let distance = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(
                distance > 0.15,
                "{one:?} and {other:?} are {distance:.2} apart to '{eyes}'"
            );
        }
    }
}

#[test]
fn fewer_colours_still_tell_things_apart() {
    let (theme, _) = load("night", None);
    let plain = theme.clone().degrade(ColorDepth::None);
    assert!(
        Role::ALL
            .iter()
            .all(|(role, _)| plain.style(*role).fg.is_none() && plain.style(*role).bg.is_none())
    );
    assert!(plain.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
    assert!(plain.style(Role::TokenOdd).add_modifier.contains(Modifier::UNDERLINED));
    let some = theme.degrade(ColorDepth::Ansi256);
    assert!(matches!(some.style(Role::Accent).fg, Some(Color::Indexed(16..))));
}

#[test]
fn no_text_sinks_into_its_ground_where_colours_are_few() {
    for (name, _) in BUILT_IN {
        for depth in [ColorDepth::Ansi16, ColorDepth::Ansi256] {
            let theme = load(name, None).0.degrade(depth);
            for (role, role_name) in Role::ALL {
                let style = theme.style(role);
                assert!(!matches!(style.fg, Some(Color::Rgb(..))), "{name}: {role_name}");
                if let (Some(fg), Some(bg)) = (style.fg, style.bg.or(theme.background())) {
                    assert_ne!(fg, bg, "{name}: {role_name} at {depth:?}");
                }
            }
        }
    }
}

#[test]
fn the_terminal_says_how_many_colours_it_has() {
    let depth = |n, t, c| ColorDepth::from_env(n, t, c);
    assert_eq!(
        depth(Some("1"), Some("xterm-256color"), Some("truecolor")),
        ColorDepth::None
    );
    assert_eq!(
        depth(Some(""), Some("xterm-256color"), Some("truecolor")),
        ColorDepth::TrueColor
    );
    assert_eq!(depth(None, Some("xterm-256color"), None), ColorDepth::Ansi256);
    assert_eq!(depth(None, Some("linux"), None), ColorDepth::Ansi16);
    assert_eq!(depth(None, Some("dumb"), None), ColorDepth::None);
    assert_eq!(depth(None, None, None), ColorDepth::Ansi16);
}

#[test]
fn mistakes_are_named_and_cost_only_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let words = |name: &str| load(name, Some(folder.path())).1.join("\n");

    write(
        "mine.toml",
        "inherits = \"night\"\n[palette]\nacent = \"#112233\"\n[roles]\naccent = \"acent\"\nheadin = \"red\"\ncode = \"bluue\"\ndim = { fg = \"red\", blink = true }\n",
    );
    let (theme, warnings) = load("mine", Some(folder.path()));
    assert_eq!(theme.style(Role::Accent).fg, Some(Color::Rgb(0x11, 0x22, 0x33)));
    assert_eq!(theme.style(Role::Strong), load("night", None).0.style(Role::Strong));
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("'headin'") && w.contains("'heading'"))
    );
    assert!(warnings.iter().any(|w| w.contains("'bluue'") && w.contains("'blue'")));

    write("broken.toml", "[palette]\nx = \n");
    assert!(words("broken").contains("line 2"), "{}", words("broken"));
    write("a.toml", "inherits = \"b\"\n");
    write("b.toml", "inherits = \"a\"\n");
    assert!(words("a").contains("circle"));
    assert!(words("nonsense").contains("there is no theme 'nonsense'"));
    assert_eq!(
        load("nonsense", None).0.style(Role::Strong),
        load("quipu", None).0.style(Role::Strong)
    );
}

#[test]
fn a_persons_own_theme_may_stand_on_the_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let own = |name: &str| load(name, Some(folder.path()));

    write("night.toml", "inherits = \"night\"\n[palette]\naccent = \"#00ffff\"\n");
    let (night, warnings) = own("night");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(night.style(Role::Accent).fg, Some(Color::Rgb(0, 255, 255)));
    assert_eq!(night.background(), load("night", None).0.background());

    // Without a word about inheritance too, no role is left bare.
    write("quipu.toml", "[roles]\naccent = \"red\"\n");
    let (quipu, warnings) = own("quipu");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(quipu.style(Role::Accent).fg, Some(Color::Red));
    assert_eq!(quipu.style(Role::Strong), load("quipu", None).0.style(Role::Strong));
}

#[test]
fn a_bad_palette_is_named_where_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    for bad in ["#+12345", "#fff", "#12345g", "#ééé", "", "bleu"] {
        fs::write(
            folder.path().join("mine.toml"),
            format!("[palette]\nsea = \"{bad}\"\n[roles]\ncode = \"sea\"\n"),
        )
        .unwrap();
        let (theme, warnings) = load("mine", Some(folder.path()));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains(&format!("palette 'sea' is '{bad}'")),
            "{warnings:?}"
        );
        assert_eq!(theme.style(Role::Code), load("quipu", None).0.style(Role::Code));
    }
}
