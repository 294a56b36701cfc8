//! The functional core: `State`, everything that can happen (`Msg`), everything that we can cause (`Effect`), and the pure
//! function between them. No I/O, clock, randomness, channel or terminal here.
