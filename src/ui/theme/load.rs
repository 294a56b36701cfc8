//! Reads theme files: the person's folder first, then those that ship. A theme inherits from another, down to `quipu`, so no
//! role is ever without a style.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use crate::text::nearest;

use super::color::{NAMES, parse};
use super::{Role, Theme};

/// The themes that ship, the default first.
pub const BUILT_IN: [(&str, &str); 13] = [
    ("quipu", include_str!("../../../themes/quipu.toml")),
    ("night", include_str!("../../../themes/night.toml")),
    ("puna", include_str!("../../../themes/puna.toml")),
    ("cochineal", include_str!("../../../themes/cochineal.toml")),
    ("indigo", include_str!("../../../themes/indigo.toml")),
    ("terrace", include_str!("../../../themes/terrace.toml")),
    ("loom", include_str!("../../../themes/loom.toml")),
    ("lucid", include_str!("../../../themes/lucid.toml")),
    ("summit", include_str!("../../../themes/summit.toml")),
    ("paper", include_str!("../../../themes/paper.toml")),
    ("salar", include_str!("../../../themes/salar.toml")),
    ("maize", include_str!("../../../themes/maize.toml")),
    ("noon", include_str!("../../../themes/noon.toml")),
];

/// Longest chain of inheritance: far more than anyone needs, and an end to every circle.
const DEEPEST: usize = 8;

/// A theme file. Roles are read one by one, so that one mistake does not cost the others.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    roles: BTreeMap<String, toml::Value>,
}

/// Loads the theme of this name from `folder` or from those that ship. What could not be used is told in words for the
/// person; the theme comes out complete in any case.
pub fn load(name: &str, folder: Option<&Path>) -> (Theme, Vec<String>) {
    let (chain, mut warnings) = chain(name, folder);
    let mut styles = [Style::default(); Role::ALL.len()];
    // The nearest palette wins, also for the roles of an inherited theme: that is how a theme changes another's colours.
    let mut palette = BTreeMap::new();
    for link in chain.iter().rev() {
        palette.extend(link.file.palette.clone());
    }
    for Link { name: theme, file, .. } in chain.iter().rev() {
        for (role, value) in &file.roles {
            match Role::ALL.iter().find(|(_, known)| known == role) {
                Some((found, _)) => match style(value, &palette) {
                    Ok(style) => styles[*found as usize] = style,
                    Err(problem) => warnings.push(format!("theme '{theme}', role '{role}': {problem}")),
                },
                None => warnings.push(format!("theme '{theme}' has no use for role '{role}': {}", near(role))),
            }
        }
    }
    (
        Theme {
            name: name.to_owned(),
            styles,
        },
        warnings,
    )
}

/// The names of the themes that ship and of those in `folder`, each once.
pub fn names(folder: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    // A folder that cannot be read has no themes; one that is asked for by name says why.
    let files = folder
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let paths = files.map(|file| file.path());
    let own = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut own: Vec<String> = own
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| !names.contains(name))
        .collect();
    own.sort();
    names.extend(own);
    names
}

/// A theme and those that it inherits from, the farthest last, which is always the `quipu` that ships.
fn chain(name: &str, folder: Option<&Path>) -> (Vec<Link>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut chain: Vec<Link> = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(wanted) = next.take() {
        let seen = |shipped| chain.iter().any(|link| link.name == wanted && link.shipped == shipped);
        // A person's `night` may inherit from the `night` that ships: the name then means that one.
        let own_is_taken = seen(false);
        if seen(true) || (own_is_taken && shipped(&wanted).is_none()) {
            warnings.push(format!(
                "theme '{name}' inherits in a circle through '{wanted}'; the circle is cut there"
            ));
            break;
        }
        if chain.len() == DEEPEST {
            warnings.push(format!(
                "theme '{name}' inherits through more than {DEEPEST} themes; '{wanted}' is left out"
            ));
            break;
        }
        let folder = folder.filter(|_| !own_is_taken);
        let link = read(&wanted, folder).unwrap_or_else(|problem| {
            warnings.push(problem);
            Link::empty(wanted)
        });
        next.clone_from(&link.file.inherits);
        chain.push(link);
    }
    let base = BUILT_IN[0].0;
    if chain.last().is_none_or(|last| last.name != base || !last.shipped) {
        chain.push(read(base, None).unwrap_or_else(|_| Link::empty(base.to_owned())));
    }
    (chain, warnings)
}

/// One theme of a chain.
struct Link {
    name: String,
    /// Whether it is one that ships, rather than a person's own of that name.
    shipped: bool,
    file: File,
}

impl Link {
    fn empty(name: String) -> Self {
        Self {
            name,
            shipped: false,
            file: File::default(),
        }
    }
}

/// The source of a theme that ships.
fn shipped(name: &str) -> Option<&'static str> {
    BUILT_IN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, source)| *source)
}

/// The file of a theme: a path, a file in the folder, or one that ships.
fn read(name: &str, folder: Option<&Path>) -> Result<Link, String> {
    let named = Path::new(name);
    let own = folder
        .map(|folder| folder.join(format!("{name}.toml")))
        .filter(|path| path.is_file());
    let path = if named.extension().is_some_and(|end| end == "toml") {
        Some(named.to_owned())
    } else {
        own
    };
    let ships = path.is_none();
    let (source, place) = if let Some(path) = path {
        let place = path.display().to_string();
        let source = fs::read_to_string(&path).map_err(|error| format!("cannot read theme '{place}': {error}"))?;
        (source, place)
    } else if let Some(source) = shipped(name) {
        (source.to_owned(), name.to_owned())
    } else {
        let known: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "there is no theme '{name}': choose from {}, or put '{name}.toml' into the themes folder",
            known.join(", ")
        ));
    };
    match toml::from_str(&source) {
        Ok(file) => Ok(Link {
            name: name.to_owned(),
            shipped: ships,
            file,
        }),
        Err(error) => Err(broken(&place, &source, &error)),
    }
}

/// What is wrong with a theme file, and where.
fn broken(place: &str, source: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| {
        source[..span.start.min(source.len())].matches('\n').count() + 1
    });
    format!(
        "theme '{place}' line {line}: {}; '{}' is used",
        error.message().trim(),
        BUILT_IN[0].0
    )
}

/// A style: a colour, or a table of `fg`, `bg` and switches.
fn style(value: &toml::Value, palette: &BTreeMap<String, String>) -> Result<Style, String> {
    match value {
        toml::Value::String(name) => Ok(Style::default().fg(color(name, palette)?)),
        toml::Value::Table(table) => {
            table
                .iter()
                .try_fold(Style::default(), |style, (key, value)| match (key.as_str(), value) {
                    ("fg", toml::Value::String(name)) => Ok(style.fg(color(name, palette)?)),
                    ("bg", toml::Value::String(name)) => Ok(style.bg(color(name, palette)?)),
                    (_, toml::Value::Boolean(on)) => {
                        let modifier = modifier(key).ok_or_else(|| format!("'{key}' is no switch: {SWITCHES}"))?;
                        Ok(if *on { style.add_modifier(modifier) } else { style })
                    }
                    _ => Err(format!(
                        "'{key}' is no part of a style: give fg and bg as colours, {SWITCHES}"
                    )),
                })
        }
        _ => Err("a style is a colour, or a table such as { fg = \"blue\", bold = true }".to_owned()),
    }
}

const SWITCHES: &str = "and bold, dim, italic, underline, reversed, struck as true or false";

fn modifier(name: &str) -> Option<Modifier> {
    Some(match name {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underline" => Modifier::UNDERLINED,
        "reversed" => Modifier::REVERSED,
        "struck" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

fn color(name: &str, palette: &BTreeMap<String, String>) -> Result<Color, String> {
    const FORMS: &str = "give '#rrggbb', a palette name, or one such as 'bright-blue'";
    if let Some(value) = palette.get(name) {
        return parse(value).ok_or_else(|| format!("palette '{name}' is '{value}', which is no colour: {FORMS}"));
    }
    parse(name).ok_or_else(|| {
        let known = palette
            .keys()
            .map(String::as_str)
            .chain(NAMES.iter().map(|(name, _)| *name));
        match nearest(name, known) {
            Some(near) => format!("'{name}' is no colour; did you mean '{near}'?"),
            None => format!("'{name}' is no colour: {FORMS}"),
        }
    })
}

fn near(role: &str) -> String {
    match nearest(role, Role::ALL.iter().map(|(_, name)| *name)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "remove it".to_owned(),
    }
}
