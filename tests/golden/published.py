#!/usr/bin/env python3
"""Makes published.safetensors beside this script, with PyPI's transformers 5.24 and PyTorch 2.15: small
models with random parameters, under the names of transformers' classes, and what they compute in
float64. Element types: F32, I32, F64.

In a terminal: tests/golden/published.py [the folder to write to]
"""

import sys
from pathlib import Path

import numpy as np
import torch
from golden import f32, f64, i32, save
from transformers import (
    BertConfig,
    BertModel,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    Gemma4TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    GptOssConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3NextConfig,
    SmolLM3Config,
    SmolLM3ForCausalLM,
    T5Config,
    T5EncoderModel,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.models.gemma4 import modeling_gemma4 as gemma4_parts
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss_parts
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next_parts


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


def written(model, name, vocab=60, count=11):
    """A model of language, and its logits after each of some tokens."""
    model = model.double().eval()
    tensors = parameters(model, name)
    tokens = torch.randint(0, vocab, (1, count))
    with torch.no_grad():
        logits = model(tokens).logits
    tensors[f"{name}/tokens"] = i32(tokens[0])
    tensors[f"{name}/logits"] = f64(logits[0])
    return tensors


def llama(name, **more):
    config = LlamaConfig(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=32,
        rope_theta=1000.0, rms_norm_eps=1e-5, tie_word_embeddings=True,
        attn_implementation="eager", **more)
    return written(LlamaForCausalLM(config), name)


def gpt2():
    config = GPT2Config(vocab_size=60, n_positions=32, n_embd=24, n_layer=2, n_head=4,
                        attn_implementation="eager")
    return written(GPT2LMHeadModel(config), "gpt2")


def qwen3():
    config = Qwen3Config(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, head_dim=8, max_position_embeddings=32,
        rope_theta=1000000.0, rms_norm_eps=1e-6, tie_word_embeddings=True,
        attn_implementation="eager")
    return written(Qwen3ForCausalLM(config), "qwen3")


def qwen2():
    config = Qwen2Config(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=32,
        rope_theta=1000000.0, rms_norm_eps=1e-6, tie_word_embeddings=True,
        attn_implementation="eager")
    return written(Qwen2ForCausalLM(config), "qwen2")


def gemma3():
    # Every second layer sees all; the others see a window of 4.
    config = Gemma3TextConfig(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=4,
        num_attention_heads=6, num_key_value_heads=2, head_dim=8, query_pre_attn_scalar=8,
        max_position_embeddings=32, sliding_window=4, rms_norm_eps=1e-6,
        rope_theta=1000000.0, rope_local_base_freq=10000.0, tie_word_embeddings=True,
        layer_types=["sliding_attention", "full_attention"] * 2, attn_implementation="eager")
    return written(Gemma3ForCausalLM(config), "gemma3")


def smollm3():
    # The second of three layers has no positions.
    config = SmolLM3Config(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=3,
        num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=32,
        rms_norm_eps=1e-6, rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
        no_rope_layers=[1, 0, 1], tie_word_embeddings=True, pad_token_id=0,
        attn_implementation="eager")
    return written(SmolLM3ForCausalLM(config), "smollm3")


def phi3():
    """Its joined projections are written one by one, and LongRoPE's factors beside them."""
    factors = [1.5, 2.0, 4.0, 3.0]
    config = Phi3Config(
        vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=1, max_position_embeddings=32,
        original_max_position_embeddings=8, rms_norm_eps=1e-5, tie_word_embeddings=True,
        pad_token_id=0, attn_implementation="eager",
        rope_parameters={"rope_type": "longrope", "rope_theta": 1000.0, "factor": 4.0,
                         "short_factor": [1.0] * 4, "long_factor": factors,
                         "original_max_position_embeddings": 8})
    joined = {"qkv_proj": (("q_proj", 24), ("k_proj", 8), ("v_proj", 8)),
              "gate_up_proj": (("gate_proj", 40), ("up_proj", 40))}
    tensors = written(Phi3ForCausalLM(config), "phi3")
    for name in list(tensors):
        for whole, parts in joined.items():
            if whole not in name:
                continue
            rows = iter(tensors.pop(name))
            for part, count in parts:
                tensors[name.replace(whole, part)] = np.stack([next(rows) for _ in range(count)])
    tensors["phi3.model.rope.long_factor"] = f32(torch.tensor(factors))
    tensors["phi3.model.rope.short_factor"] = f32(torch.ones(4))
    return tensors


def attentions(modules, name, position_embeddings, window=None, **more):
    """What attention modules, one after another, make of 11 positions with a causal mask."""
    tensors = {}
    x = torch.randn(1, 11, 24).float()
    tensors[f"{name}/x"] = f32(x[0])
    x = x.double()
    ids = torch.arange(11)
    seen = ids[None, :] <= ids[:, None]
    if window:
        seen &= ids[None, :] > ids[:, None] - window
    mask = torch.where(seen, 0.0, -torch.inf)[None, None].double()
    for i, module in enumerate(modules):
        tensors |= parameters(module.double().eval(), f"{name}.{i}")
        with torch.no_grad():
            x = module(hidden_states=x, position_embeddings=position_embeddings(x, ids[None]),
                       attention_mask=mask, **more)[0]
    tensors[f"{name}/y"] = f64(x[0])
    return tensors


def gpt_oss():
    config = GptOssConfig(
        hidden_size=24, num_hidden_layers=1, num_attention_heads=6, num_key_value_heads=2,
        head_dim=8, sliding_window=4, layer_types=["sliding_attention"],
        rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
        attn_implementation="eager")
    rope = gpt_oss_parts.GptOssRotaryEmbedding(config)
    return attentions([gpt_oss_parts.GptOssAttention(config, 0)], "gpt_oss", rope, window=4)


def qwen3_next():
    config = Qwen3NextConfig(
        hidden_size=24, num_hidden_layers=1, num_attention_heads=6, num_key_value_heads=2,
        head_dim=8, rms_norm_eps=1e-6, layer_types=["full_attention"],
        rope_parameters={"rope_type": "default", "rope_theta": 1000.0,
                         "partial_rotary_factor": 0.5},
        attn_implementation="eager")
    rope = qwen3_next_parts.Qwen3NextRotaryEmbedding(config)
    return attentions([qwen3_next_parts.Qwen3NextAttention(config, 0)], "qwen3_next", rope)


def gemma4():
    """The second layer shares the keys and values of the first."""
    config = Gemma4TextConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
        head_dim=8, global_head_dim=8, rms_norm_eps=1e-6, num_kv_shared_layers=1,
        layer_types=["full_attention", "full_attention"],
        rope_parameters={"full_attention": {"rope_type": "proportional", "rope_theta": 1000.0,
                                            "partial_rotary_factor": 0.5}},
        attn_implementation="eager")
    rope = gemma4_parts.Gemma4TextRotaryEmbedding(config)
    return attentions([gemma4_parts.Gemma4TextAttention(config, i) for i in range(2)], "gemma4",
                      lambda x, ids: rope(x, ids, "full_attention"), shared_kv_states={})


def as_published(name):
    """The name of a ViT's parameter in the files that exist; transformers 5 has others in memory."""
    for new, old in (
        ("vit.vit.layers.", "vit.vit.encoder.layer."),
        ("attention.q_proj", "attention.attention.query"),
        ("attention.k_proj", "attention.attention.key"),
        ("attention.v_proj", "attention.attention.value"),
        ("attention.o_proj", "attention.output.dense"),
        ("mlp.fc1", "intermediate.dense"),
        ("mlp.fc2", "output.dense"),
    ):
        name = name.replace(new, old)
    return name


def vit():
    config = ViTConfig(image_size=12, patch_size=4, num_channels=3, hidden_size=24,
                       num_hidden_layers=2, num_attention_heads=4, intermediate_size=40,
                       num_labels=7, attn_implementation="eager")
    model = ViTForImageClassification(config).double().eval()
    tensors = {as_published(name): t for name, t in parameters(model, "vit").items()}
    images = torch.randn(2, 3, 12, 12).float()
    with torch.no_grad():
        logits = model(images.double()).logits
    tensors["vit/images"] = f32(images)
    tensors["vit/logits"] = f64(logits)
    return tensors


def t5():
    config = T5Config(vocab_size=60, d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=4)
    model = T5EncoderModel(config).double().eval()
    tensors = parameters(model, "t5")
    tokens = torch.randint(0, 60, (1, 150))
    with torch.no_grad():
        encoded = model(tokens).last_hidden_state
    tensors["t5/tokens"] = i32(tokens[0])
    tensors["t5/encoded"] = f64(encoded[0])
    return tensors


def whisper():
    config = WhisperConfig(
        vocab_size=60, num_mel_bins=5, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96,
        decoder_ffn_dim=96, d_model=24, max_source_positions=15, max_target_positions=32,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        attn_implementation="eager")
    model = WhisperForConditionalGeneration(config).double().eval()
    tensors = parameters(model, "whisper")
    mel = torch.randn(1, 5, 30).float()
    tokens = torch.randint(0, 60, (1, 9))
    with torch.no_grad():
        out = model(mel.double(), decoder_input_ids=tokens)
    tensors["whisper/mel"] = f32(mel[0])
    tensors["whisper/tokens"] = i32(tokens[0])
    tensors["whisper/encoded"] = f64(out.encoder_last_hidden_state[0])
    tensors["whisper/logits"] = f64(out.logits[0])
    return tensors


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    save(folder / "published.safetensors", {
        **bert(), **llama("llama"), **gpt2(), **qwen3(), **gemma3(), **vit(), **t5(), **whisper(),
        **llama("llama3", rope_scaling={
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 400}),
        **qwen2(), **smollm3(), **phi3(), **gpt_oss(), **qwen3_next(), **gemma4()})
