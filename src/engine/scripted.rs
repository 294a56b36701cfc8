//! An engine that plays a script: deterministic answers, delays, errors and crashes, for tests, demonstrations and builds
//! without llama.cpp.
