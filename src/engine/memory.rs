//! The memory that the machine has left. What a model needs of it is arithmetic, and stands elsewhere.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Bytes of memory that a process may still take without swapping; `None` where the system does not say.
pub fn available_memory() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    let machine = system.available_memory();
    let limits = system.cgroup_limits();
    Some(limits.map_or(machine, |limits| machine.min(limits.free_memory)))
}
