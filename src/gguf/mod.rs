//! Reading and validating a GGUF header in safe Rust. The file is untrusted: every number is checked before it is used.
//! Never loads weights.
