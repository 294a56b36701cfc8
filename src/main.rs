//! The program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu::cli::main(std::env::args_os())
}
