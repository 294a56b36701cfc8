//! Settings: the shape of the file, the layers over it, and where things are kept.
