//! Themes: a style for every role, from TOML files with a palette and inheritance. Loading never fails: what cannot be used is
//! told and the theme beneath stays in force.

mod color;
mod load;
mod role;

use ratatui::style::{Color, Modifier, Style};

pub use color::ColorDepth;
pub use load::{BUILT_IN, load, names};
pub use role::Role;

/// A style for every role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The name it was asked for by.
    pub name: String,
    styles: [Style; Role::ALL.len()],
}

impl Theme {
    /// How a role looks.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The same theme for a terminal that shows fewer colours.
    #[must_use]
    pub fn degrade(mut self, depth: ColorDepth) -> Self {
        for (style, (role, _)) in self.styles.iter_mut().zip(Role::ALL) {
            style.fg = style.fg.and_then(|color| depth.show(color));
            style.bg = style.bg.and_then(|color| depth.show(color));
            // What only its ground told apart still has to be seen.
            if depth == ColorDepth::None {
                *style = match role {
                    Role::Selection | Role::Found => style.add_modifier(Modifier::REVERSED),
                    Role::TokenOdd => style.add_modifier(Modifier::UNDERLINED),
                    _ => *style,
                };
            }
        }
        self
    }

    /// The background of the whole screen, where the theme has one.
    pub fn background(&self) -> Option<Color> {
        self.style(Role::Text).bg
    }
}

#[cfg(test)]
mod tests;
