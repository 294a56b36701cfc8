"""Writes a checkpoint as GGUF for llama.cpp, in F16 and in Q8_0.

    python export.py --checkpoint out/last.pt --tokenizer out/tokenizer.json --out out
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Kind

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LAYER = {
    "query": "attn_q", "key": "attn_k", "value": "attn_v", "output": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
    "down": "ffn_down", "attention_norm": "attn_norm", "feed_forward_norm": "ffn_norm",
}  # fmt: skip


def name(key: str) -> str:
    """llama.cpp's name of a tensor."""
    if key == "embedding":
        return "token_embd.weight"
    if key == "norm":
        return "output_norm.weight"
    _, number, part = key.split(".")
    return f"blk.{number}.{LAYER[part]}.weight"


def read(path: Path) -> dict[str, torch.Tensor]:
    """The weights of a file that was written here, by this recipe's names."""
    parts = {theirs: ours for ours, theirs in LAYER.items()}
    weights = {}
    for tensor in gguf.GGUFReader(path).tensors:
        place = tensor.name.removesuffix(".weight").split(".")
        if place[0] == "blk":
            key = f"layers.{place[1]}.{parts[place[2]]}"
        else:
            key = {"token_embd": "embedding", "output_norm": "norm"}[place[0]]
        data = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        weights[key] = torch.from_numpy(np.array(data, dtype=np.float32))
    return weights


def write(path: Path, kept: dict, tokenizer: dict, kind: Kind) -> None:
    shape, weights = kept["shape"], kept["model"]
    count = sum(tensor.numel() for tensor in weights.values())
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("cria")
    out.add_basename("cria")
    out.add_version("v1")
    out.add_description("The small chat model that quipu brings along, trained from nothing on text made by its recipe")
    out.add_license("MIT OR Apache-2.0")
    out.add_languages(["en"])
    out.add_size_label(f"{count / 1e6:.1f}M")
    out.add_context_length(shape["context"])
    out.add_embedding_length(shape["width"])
    out.add_block_count(shape["layers"])
    out.add_feed_forward_length(shape["feed_forward"])
    out.add_head_count(shape["heads"])
    out.add_head_count_kv(shape["kv_heads"])
    out.add_rope_dimension_count(shape["width"] // shape["heads"])
    out.add_rope_freq_base(shape["rope_base"])
    out.add_layer_norm_rms_eps(shape["epsilon"])
    out.add_vocab_size(shape["vocabulary"])
    out.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if kind == Kind.F16 else gguf.LlamaFileType.MOSTLY_Q8_0)
    out.add_quantization_version(gguf.GGML_QUANT_VERSION)

    words = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("smollm")
    out.add_token_list(words)
    out.add_token_types([gguf.TokenType.CONTROL if word in special else gguf.TokenType.NORMAL for word in words])
    out.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]])
    out.add_bos_token_id(special["<|endoftext|>"])
    out.add_eos_token_id(special["<|im_end|>"])
    out.add_eot_token_id(special["<|im_end|>"])
    out.add_pad_token_id(special["<|endoftext|>"])
    out.add_add_bos_token(False)
    out.add_chat_template(TEMPLATE)

    for key, tensor in weights.items():
        data = tensor.float().numpy()
        if data.ndim == 1:
            out.add_tensor(name(key), data)
        elif kind == Kind.F16:
            out.add_tensor(name(key), data.astype(np.float16))
        else:
            out.add_tensor(name(key), gguf.quants.quantize(data, kind), raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    kept = torch.load(args.checkpoint, weights_only=True)
    tokenizer = json.loads(args.tokenizer.read_text(encoding="utf-8"))
    for kind in (Kind.F16, Kind.Q8_0):
        path = args.out / f"cria-{kind.name.lower()}.gguf"
        write(path, kept, tokenizer, kind)
        print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
