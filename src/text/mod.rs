//! Pure functions over text and tokens: sanitising what is untrusted, stitching UTF-8 from bytes. No I/O.

mod escapes;
pub mod sanitize;
pub mod stitch;

pub use sanitize::{sanitize, sanitize_line};
pub use stitch::Stitcher;
