//! What this program's machine code asks of a processor, and what the one it runs on has. A program that was built for a newer one
//! dies without a word at the first instruction that is missing; here it gets words.

/// An instruction set that matters to speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InstructionSet {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether this program was built for it.
    pub(super) used: bool,
    /// Whether the processor has it.
    pub(super) there: bool,
}

/// The instruction sets that llama.cpp's kernels are written for; none where they cannot be asked for.
#[cfg(feature = "llama")]
pub(super) fn instruction_sets() -> Vec<InstructionSet> {
    here()
}

/// The instruction sets that this program was built for and the processor lacks.
pub(super) fn missing() -> Vec<&'static str> {
    let lacking = |set: &InstructionSet| set.used && !set.there;
    here().iter().filter(|set| lacking(set)).map(|set| set.name).collect()
}

#[cfg(target_arch = "x86_64")]
fn here() -> Vec<InstructionSet> {
    use core::arch::x86_64::__cpuid_count;

    // The standard library's own question is answered by the compiler where the program was built for the feature; so the
    // processor is asked. Leaves and bits as in Intel's manual, volume 2A, CPUID.
    let (first, extended) = (__cpuid_count(1, 0), __cpuid_count(7, 0));
    let set = |name, used, register: u32, bit: u32| InstructionSet {
        name,
        used,
        there: register >> bit & 1 == 1,
    };
    vec![
        set("sse4.2", cfg!(target_feature = "sse4.2"), first.ecx, 20),
        set("avx", cfg!(target_feature = "avx"), first.ecx, 28),
        set("f16c", cfg!(target_feature = "f16c"), first.ecx, 29),
        set("fma", cfg!(target_feature = "fma"), first.ecx, 12),
        set("avx2", cfg!(target_feature = "avx2"), extended.ebx, 5),
        set("bmi2", cfg!(target_feature = "bmi2"), extended.ebx, 8),
        set("avx512f", cfg!(target_feature = "avx512f"), extended.ebx, 16),
        set("avx512bw", cfg!(target_feature = "avx512bw"), extended.ebx, 30),
        set("avx512vl", cfg!(target_feature = "avx512vl"), extended.ebx, 31),
        set("avx512vbmi", cfg!(target_feature = "avx512vbmi"), extended.ecx, 1),
        set("avx512vnni", cfg!(target_feature = "avx512vnni"), extended.ecx, 11),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn here() -> Vec<InstructionSet> {
    // A processor of another kind has no question that every program may ask.
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_these_tests_has_what_they_were_built_for() {
        assert_eq!(missing(), [""; 0]);
        // The tests are built for this processor, so what the compiler knows of it is what it says itself.
        #[cfg(target_arch = "x86_64")]
        assert!(here().iter().any(|set| set.there));
    }
}
