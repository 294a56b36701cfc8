//! `quipu devices`: what models can be computed on here.

use std::fmt::Write as _;
use std::io::Write;

use clap::Args;
use serde_json::json;

use crate::domain::Bytes;
use crate::engine::local::{Device, devices, usual_threads};

use super::exit::{self, Exit, Stop};
use super::processor::{InstructionSet, instruction_sets};

/// How to list.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct DevicesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists.
///
/// # Errors
/// When it cannot be written; a reader that went away is no error.
pub(super) fn run(args: DevicesArgs, out: impl Write) -> Result<Exit, Stop> {
    let (devices, sets, threads) = (devices(), instruction_sets(), usual_threads());
    let text = if args.json {
        format!("{:#}\n", as_json(&devices, &sets, threads))
    } else {
        as_text(&devices, &sets, threads)
    };
    exit::print("the devices", &text, out)
}

fn as_text(devices: &[Device], sets: &[InstructionSet], threads: u32) -> String {
    let mut text = String::new();
    let name = devices
        .iter()
        .map(|device| device.name.chars().count())
        .max()
        .unwrap_or(0);
    for device in devices {
        let memory = match device.memory {
            0 => "-".to_owned(),
            memory => format!("{} ({} free)", Bytes(memory), Bytes(device.free)),
        };
        // A string takes everything.
        let _ = writeln!(
            text,
            "{:name$}  {:11}  {memory:24}  {}",
            device.name,
            device.kind.name(),
            device.description
        );
    }
    let cards: Vec<_> = devices.iter().filter(|device| device.kind.takes_layers()).collect();
    let cards: Vec<_> = cards.iter().map(|device| device.name.as_str()).collect();
    let used = if cards.is_empty() {
        "the CPU: this build sees no graphics card".to_owned()
    } else {
        format!("as many layers as fit on {}, the rest on the CPU", cards.join(", "))
    };
    let _ = writeln!(text, "\nused by default: {used}; {threads} threads");
    if !sets.is_empty() {
        let of = |there: fn(&InstructionSet) -> bool| {
            let names: Vec<_> = sets.iter().filter(|set| there(set)).map(|set| set.name).collect();
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(" ")
            }
        };
        let _ = writeln!(text, "instruction sets used: {}", of(|set| set.used));
        let _ = writeln!(text, "there, but not used: {}", of(|set| set.there && !set.used));
    }
    text
}

fn as_json(devices: &[Device], sets: &[InstructionSet], threads: u32) -> serde_json::Value {
    let device = |device: &Device| {
        json!({
            "name": device.name, "description": device.description, "backend": device.backend,
            "kind": device.kind.name(), "memory_bytes": device.memory, "free_bytes": device.free,
            "takes_layers": device.kind.takes_layers(),
        })
    };
    let set = |set: &InstructionSet| json!({ "name": set.name, "used": set.used, "there": set.there });
    json!({
        "devices": devices.iter().map(device).collect::<Vec<_>>(),
        "threads": threads,
        "instruction_sets": sets.iter().map(set).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::local::DeviceKind;

    #[test]
    fn devices_are_a_table_and_what_is_used_is_said() {
        let card = Device {
            name: "CUDA0".to_owned(),
            description: "a card".to_owned(),
            backend: "CUDA".to_owned(),
            kind: DeviceKind::Gpu,
            memory: 8 << 30,
            free: 6 << 30,
        };
        let cpu = Device {
            name: "CPU".to_owned(),
            description: "a processor".to_owned(),
            kind: DeviceKind::Cpu,
            memory: 0,
            ..card.clone()
        };
        let sets = [("avx", true, true), ("avx2", false, true), ("avx512f", false, false)]
            .map(|(name, used, there)| InstructionSet { name, used, there });
        insta::assert_snapshot!(as_text(&[card, cpu.clone()], &sets, 4), @r"
        CUDA0  gpu          8.0 GiB (6.0 GiB free)    a card
        CPU    cpu          -                         a processor

        used by default: as many layers as fit on CUDA0, the rest on the CPU; 4 threads
        instruction sets used: avx
        there, but not used: avx2
        ");
        assert!(
            as_text(&[cpu], &[], 2)
                .ends_with("used by default: the CPU: this build sees no graphics card; 2 threads\n")
        );
    }
}
