//! The command line: its grammar, and the commands that need no screen.
