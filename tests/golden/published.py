#!/usr/bin/env python3
"""Makes published.safetensors beside this script, with PyPI's transformers 4.38 and PyTorch: small
models with random parameters, under the names of transformers' classes, and what they compute in
float64. Element types: F32, I32, F64.

In a terminal: tests/golden/published.py [the folder to write to]
"""

import sys
from pathlib import Path

import torch
from golden import f32, f64, i32, save
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM


def parameters(model, prefix):
    """Random parameters that float32 has, set in the model and returned under their names."""
    tensors = {}
    for name, p in model.named_parameters():
        offset = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
        values = (offset + 0.3 * torch.randn(p.shape, dtype=torch.float64)).float()
        with torch.no_grad():
            p.copy_(values)
        tensors[f"{prefix}.{name}"] = f32(values)
    return tensors


def bert():
    model = BertModel(
        BertConfig(vocab_size=50, hidden_size=20, num_hidden_layers=2, num_attention_heads=5,
                   intermediate_size=24, max_position_embeddings=16, hidden_act="gelu"),
        add_pooling_layer=False,
    ).double().eval()
    tensors = parameters(model, "bert")
    lengths = [7, 1, 16]
    tokens = torch.randint(0, 50, (3, 16))
    mask = torch.tensor([[p < n for p in range(16)] for n in lengths])
    with torch.no_grad():
        states = model(tokens, attention_mask=mask.long()).last_hidden_state
    sums = (states * mask[:, :, None]).sum(1)
    mean = sums / mask.sum(1, keepdim=True)
    tensors["bert/tokens"] = i32(tokens)
    tensors["bert/lengths"] = i32(lengths)
    tensors["bert/embedding"] = f64(torch.nn.functional.normalize(mean, dim=1))
    return tensors


def llama():
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
                    num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=32,
                    rope_theta=1000.0, rms_norm_eps=1e-5, tie_word_embeddings=True,
                    attn_implementation="eager"),
    ).double().eval()
    tensors = parameters(model, "llama")
    tokens = torch.randint(0, 60, (1, 11))
    with torch.no_grad():
        logits = model(tokens).logits
    tensors["llama/tokens"] = i32(tokens[0])
    tensors["llama/logits"] = f64(logits[0])
    return tensors


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    save(folder / "published.safetensors", {**bert(), **llama()})
