//! Pure functions over text and tokens: sanitising what is untrusted, stitching UTF-8 from bytes, telling
//! thinking from answers, seeing loops. No I/O.

pub mod aligned;
mod escapes;
pub mod fences;
pub mod filter;
pub mod fuzzy;
pub mod growing;
pub mod looping;
pub mod nearest;
pub mod sanitize;
pub mod stitch;
pub mod stops;
pub mod thinking;

pub use aligned::aligned;
pub use fences::fenced;
pub use filter::Filter;
pub use fuzzy::fuzzy;
pub use growing::Growing;
pub use looping::{Repetition, Watch};
pub use nearest::nearest;
pub use sanitize::{is_invisible, sanitize, sanitize_copy, sanitize_line};
pub use stitch::Stitcher;
pub use stops::Stops;
