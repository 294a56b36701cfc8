//! The threads that make tokens, all behind one seam: an `EngineHandle` of commands in, events out, and a cancel flag.
