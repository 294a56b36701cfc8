//! The imperative shell: the loop, the terminal guard, effects, signals. The only room that touches terminal and clock together.
