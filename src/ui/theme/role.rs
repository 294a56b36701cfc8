//! The roles that a theme dresses. Widgets ask for a role and never for a colour.

/// A meaning on the screen that looks the same wherever it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Running text.
    Text,
    /// What is secondary.
    Dim,
    /// The one accent.
    Accent,
    /// A heading in an answer.
    Heading,
    /// Emphasised text.
    Emphasis,
    /// Strong text.
    Strong,
    /// Text struck through.
    Struck,
    /// Code in a line.
    Code,
    /// A block of code.
    CodeBlock,
    /// The language above a block of code.
    CodeLabel,
    /// A keyword in code.
    CodeKeyword,
    /// A string in code.
    CodeString,
    /// A comment in code.
    CodeComment,
    /// A number, or another constant, in code.
    CodeConstant,
    /// The name of a function in code.
    CodeFunction,
    /// The name of a type in code.
    CodeType,
    /// A formula.
    Math,
    /// A quotation.
    Quote,
    /// The bullet or number of a list item.
    ListMarker,
    /// A link's words.
    Link,
    /// A rule across the text.
    Rule,
    /// The lines of a table.
    TableBorder,
    /// The person's name.
    UserName,
    /// The model's name.
    ModelName,
    /// The lines of a box.
    Border,
    /// The lines of the box that is written in.
    BorderFocus,
    /// The title of a box.
    Title,
    /// What stands in an empty field.
    Placeholder,
    /// The selected choice.
    Selection,
    /// Words that were looked for.
    Found,
    /// A notice that is good to know.
    NoticeInfo,
    /// A notice that something is not as asked for.
    NoticeWarn,
    /// A notice that something failed.
    NoticeError,
    /// The filled part of a gauge.
    GaugeFull,
    /// The empty part of a gauge.
    GaugeEmpty,
    /// A key in a hint.
    Key,
    /// The background and text of what lies over the transcript.
    Overlay,
    /// A control token in the exact prompt.
    ControlToken,
    /// Every other token in the exact prompt, so that their borders show.
    TokenOdd,
}

impl Role {
    /// All roles and their names in theme files, in the order of the enum.
    pub const ALL: [(Self, &'static str); 39] = [
        (Self::Text, "text"),
        (Self::Dim, "dim"),
        (Self::Accent, "accent"),
        (Self::Heading, "heading"),
        (Self::Emphasis, "emphasis"),
        (Self::Strong, "strong"),
        (Self::Struck, "struck"),
        (Self::Code, "code"),
        (Self::CodeBlock, "code-block"),
        (Self::CodeLabel, "code-label"),
        (Self::CodeKeyword, "code-keyword"),
        (Self::CodeString, "code-string"),
        (Self::CodeComment, "code-comment"),
        (Self::CodeConstant, "code-constant"),
        (Self::CodeFunction, "code-function"),
        (Self::CodeType, "code-type"),
        (Self::Math, "math"),
        (Self::Quote, "quote"),
        (Self::ListMarker, "list-marker"),
        (Self::Link, "link"),
        (Self::Rule, "rule"),
        (Self::TableBorder, "table-border"),
        (Self::UserName, "user-name"),
        (Self::ModelName, "model-name"),
        (Self::Border, "border"),
        (Self::BorderFocus, "border-focus"),
        (Self::Title, "title"),
        (Self::Placeholder, "placeholder"),
        (Self::Selection, "selection"),
        (Self::Found, "found"),
        (Self::NoticeInfo, "notice-info"),
        (Self::NoticeWarn, "notice-warn"),
        (Self::NoticeError, "notice-error"),
        (Self::GaugeFull, "gauge-full"),
        (Self::GaugeEmpty, "gauge-empty"),
        (Self::Key, "key"),
        (Self::Overlay, "overlay"),
        (Self::ControlToken, "control-token"),
        (Self::TokenOdd, "token-odd"),
    ];
}
