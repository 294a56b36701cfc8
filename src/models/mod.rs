//! Which models are on this machine: the built-in one, and what a name on the command line means.
