//! Pure functions over text and tokens: sanitising what is untrusted, stitching UTF-8 from bytes. No I/O.
