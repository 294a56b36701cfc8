//! Files that are laid over a model: LoRA adapters and control vectors. Checks an adapter before llama.cpp sees it, and reads
//! the few numbers of a control vector, which llama.cpp takes from memory. Lays nothing over anything.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::error::{Fault, GgufError, quoted};
use super::header::Header;
use super::value::Value;

/// Formats that llama.cpp multiplies with on every backend; `convert_lora_to_gguf.py` writes the first four.
const FACTORS: [&str; 8] = ["F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"];
/// No model is wider; a sane file stays within what is read at once.
const WIDTH_MAX: u64 = 1 << 20;
/// No model is deeper.
const LAYERS_MAX: u64 = 1024;

/// The directions of a control vector.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlVector {
    /// Numbers of a layer: the model's embedding length.
    pub width: u32,
    /// `width` numbers for every layer from layer 1 on; layers without a direction have zeros.
    pub data: Vec<f32>,
}

impl Header {
    /// Fails when llama.cpp would crash over this file as a LoRA adapter of a model of `architecture`, or refuse it. The types
    /// of the keys count: llama.cpp ends the process over another one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_lora(&self, architecture: &str) -> Result<(), GgufError> {
        self.lora_fault(architecture).map_err(|fault| fault.of(&self.path))
    }

    fn lora_fault(&self, architecture: &str) -> Result<(), Fault> {
        let kind = self.metadata.str("general.type").unwrap_or("model");
        if kind != "adapter" {
            return unfit(format!("it is a {}, not an adapter", quoted(kind.as_bytes())));
        }
        let own = self.metadata.str("general.architecture").unwrap_or_default();
        if own != architecture {
            let (own, wanted) = (quoted(own.as_bytes()), quoted(architecture.as_bytes()));
            return unfit(format!(
                "it was made for a model of architecture {own} and this one is {wanted}"
            ));
        }
        let method = self.metadata.str("adapter.type").unwrap_or_default();
        if method != "lora" {
            return unfit(format!(
                "it is an adapter of type {}, not 'lora'",
                quoted(method.as_bytes())
            ));
        }
        match self.metadata.get("adapter.lora.alpha") {
            None => {}
            Some(Value::F32(alpha)) if alpha.is_finite() => {}
            Some(_) => return unfit("its 'adapter.lora.alpha' is no number"),
        }
        if self.tensors.is_empty() {
            return unfit("it holds no tensors");
        }
        for tensor in &self.tensors {
            let name = quoted(tensor.name.as_bytes());
            if tensor.name.ends_with("_norm.weight") {
                continue;
            }
            let (base, other) = match (tensor.name.strip_suffix(".lora_a"), tensor.name.strip_suffix(".lora_b")) {
                (Some(base), _) => (base, ".lora_b"),
                (_, Some(base)) => (base, ".lora_a"),
                _ => return unfit(format!("its tensor {name} is no factor of a LoRA")),
            };
            if !FACTORS.contains(&tensor.kind.name) {
                return unfit(format!("its tensor {name} is stored as {}", tensor.kind.name));
            }
            let partner = format!("{base}{other}");
            if !self.tensors.iter().any(|tensor| tensor.name == partner) {
                return unfit(format!("its tensor {name} lacks its other half"));
            }
        }
        Ok(())
    }

    /// The directions of a control vector; several for one layer add up, as in llama.cpp's own loader.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn control_vector(&self) -> Result<ControlVector, GgufError> {
        self.directions().map_err(|fault| fault.of(&self.path))
    }

    fn directions(&self) -> Result<ControlVector, Fault> {
        let mut file = File::open(&self.path)?;
        let mut vector = ControlVector {
            width: 0,
            data: Vec::new(),
        };
        for tensor in &self.tensors {
            let name = quoted(tensor.name.as_bytes());
            let layer = tensor
                .name
                .strip_prefix("direction.")
                .and_then(|layer| layer.parse::<u64>().ok());
            let Some(layer) = layer.filter(|layer| (1..=LAYERS_MAX).contains(layer)) else {
                return unfit(format!("its tensor {name} is no direction of a layer"));
            };
            let width = tensor.elements;
            if tensor.kind.name != "F32" || tensor.dims[0] != width || width > WIDTH_MAX {
                return unfit(format!("its tensor {name} is no list of 32-bit floats"));
            }
            if vector.width != 0 && u64::from(vector.width) != width {
                return unfit("its directions have different lengths");
            }
            vector.width = width as u32;
            file.seek(SeekFrom::Start(self.data_offset.saturating_add(tensor.offset)))?;
            let mut bytes = vec![0_u8; tensor.bytes as usize];
            file.read_exact(&mut bytes)?;
            let end = (layer * width) as usize;
            vector.data.resize(vector.data.len().max(end), 0.0);
            let numbers = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four));
            for (sum, number) in vector.data[end - width as usize..].iter_mut().zip(numbers) {
                *sum += number;
            }
        }
        if vector.data.is_empty() {
            return unfit("it holds no directions, so it is no control vector");
        }
        if vector.data.iter().any(|number| !number.is_finite()) {
            return unfit("its directions are no numbers");
        }
        Ok(vector)
    }
}

fn unfit<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Unfit(why.into()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file::{Gguf, Meta, text};
    use super::*;

    fn header(file: &Gguf) -> (tempfile::TempDir, Header) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adapter.gguf");
        file.write(&path);
        let header = Header::read(&path).unwrap();
        (folder, header)
    }

    fn lora() -> Gguf {
        let mut file = Gguf::new();
        file.set("general.type", text("adapter"))
            .set("general.architecture", text("llama"))
            .set("adapter.type", text("lora"))
            .set("adapter.lora.alpha", Meta::F32(8.0))
            .ones("blk.0.attn_q.weight.lora_a", &[8, 2])
            .ones("blk.0.attn_q.weight.lora_b", &[2, 8]);
        file
    }

    fn told(file: &Gguf) -> String {
        let (_folder, header) = header(file);
        header.check_lora("llama").unwrap_err().fault.to_string()
    }

    #[test]
    fn a_lora_is_taken_only_for_its_architecture() {
        let (_folder, header) = header(&lora());
        header.check_lora("llama").unwrap();
        let other = header.check_lora("qwen2").unwrap_err().fault.to_string();
        assert!(other.contains("'llama'") && other.contains("'qwen2'"), "{other}");
    }

    #[test]
    fn what_llama_cpp_would_die_of_is_refused() {
        assert!(told(lora().set("general.type", text("model"))).contains("'model', not an adapter"));
        assert!(told(lora().set("adapter.type", text("ia3"))).contains("'ia3'"));
        assert!(told(lora().set("adapter.lora.alpha", text("8"))).contains("is no number"));
        assert!(told(lora().set("adapter.lora.alpha", Meta::U32(8))).contains("is no number"));
        assert!(told(lora().ones("blk.1.attn_q.weight.lora_a", &[8, 2])).contains("lacks its other half"));
        assert!(told(lora().ones("blk.1.attn_q.weight", &[8, 2])).contains("is no factor"));
        assert!(told(lora().remove("general.type")).contains("'model'"));
    }

    #[test]
    fn directions_of_a_layer_add_up() {
        let mut file = Gguf::new();
        file.set("general.architecture", text("controlvector"))
            .filled("direction.1", &[4], 0.5)
            .filled("direction.3", &[4], 2.0);
        let (_folder, header) = header(&file);
        let vector = header.control_vector().unwrap();
        assert_eq!(vector.width, 4);
        assert_eq!(vector.data, [[0.5; 4], [0.0; 4], [2.0; 4]].concat());
    }

    #[test]
    fn what_is_no_control_vector_is_refused() {
        let refused = |file: &Gguf| {
            let (_folder, header) = header(file);
            header.control_vector().unwrap_err().fault.to_string()
        };
        assert!(refused(&Gguf::new()).contains("no directions"));
        assert!(refused(Gguf::new().ones("direction.0", &[4])).contains("'direction.0'"));
        assert!(refused(Gguf::new().ones("direction.1", &[4, 4])).contains("no list"));
        let uneven = refused(Gguf::new().ones("direction.1", &[4]).ones("direction.2", &[5]));
        assert!(uneven.contains("different lengths"), "{uneven}");
        assert!(refused(Gguf::new().filled("direction.1", &[4], f32::NAN)).contains("no numbers"));
    }
}
