#!/usr/bin/env python3
"""Makes rotary_scaling.safetensors beside this script, with PyPI's transformers 5.24 and PyTorch: the
rotary frequencies of published configurations, in radians per position, and behind them what queries
and keys are multiplied by. Element type: F64.

In a terminal: tests/golden/rotary_scaling.py [the folder to write to]
"""

import sys
from pathlib import Path

import torch
from golden import f64, save
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

# transformers computes in float32, whose rounding is up to 1e-6 of a blended frequency.
torch.float = torch.float32 = torch.float64

# Of Phi-4-mini-instruct's config.json.
LONG = [
    1, 1.118320672, 1.250641126, 1.398617824, 1.564103225, 1.74916897, 1.956131817, 2.187582649,
    2.446418898, 2.735880826, 3.059592084, 3.421605075, 3.826451687, 4.279200023, 4.785517845,
    5.351743533, 5.984965424, 6.693110555, 7.485043894, 8.370679318, 9.36110372, 10.4687158,
    11.70738129, 13.09260651, 14.64173252, 16.37415215, 18.31155283, 20.47818807, 22.90118105,
    25.61086418, 28.64115884, 32.03, 32.1, 32.13, 32.23, 32.6, 32.61, 32.64, 32.66, 32.7, 32.71,
    32.93, 32.97, 33.28, 33.49, 33.5, 44.16, 47.77]


def frequencies(kind, size, base, length, run=None, share=1, **more):
    """Those of a model of heads of `size` elements and at most `length` positions."""
    config = LlamaConfig(
        hidden_size=size, num_attention_heads=1, head_dim=size, max_position_embeddings=length,
        rope_parameters={"rope_type": kind, "rope_theta": base, "partial_rotary_factor": share, **more})
    if kind == "default":
        values, magnitude = LlamaRotaryEmbedding.compute_default_rope_parameters(config)
        return f64([*values, magnitude])
    values, magnitude = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=run)
    return f64([*values, magnitude])


def yarn(size, base, factor, trained, **more):
    return frequencies("yarn", size, base, int(factor * trained), factor=factor,
                       original_max_position_embeddings=trained, **more)


def phi(run):
    return frequencies("longrope", 128, 10000.0, 131072, run, share=0.75, long_factor=LONG,
                       short_factor=[1.0] * 48, original_max_position_embeddings=4096)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    save(folder / "rotary_scaling.safetensors", {
        "deepseek_v3": yarn(64, 10000.0, 40.0, 4096, beta_fast=32, beta_slow=1, mscale=1.0,
                            mscale_all_dim=1.0),
        "deepseek_v2": yarn(64, 10000.0, 40.0, 4096, beta_fast=32, beta_slow=1, mscale=0.707,
                            mscale_all_dim=1.0),
        "gpt_oss": yarn(64, 150000.0, 32.0, 4096, beta_fast=32.0, beta_slow=1.0, truncate=False),
        "qwen2_5": yarn(128, 1000000.0, 4.0, 32768),
        "yarn_factor": yarn(64, 10000.0, 16.0, 64, beta_fast=8.0, attention_factor=1.25),
        "phi_4_mini_factors": f64(LONG),
        "phi_4_mini_short": phi(4096),
        "phi_4_mini_long": phi(4097),
        "llama_3_1": frequencies("llama3", 128, 500000.0, 131072, factor=8.0, low_freq_factor=1.0,
                                 high_freq_factor=4.0, original_max_position_embeddings=8192),
        "modern_bert_global": frequencies("default", 64, 160000.0, 8192),
        "modern_bert_local": frequencies("default", 64, 10000.0, 8192),
        "gemma_3_global": frequencies("linear", 256, 1000000.0, 131072, factor=8.0),
        "gemma_3_local": frequencies("default", 256, 10000.0, 131072),
        "gemma_4_global": frequencies("proportional", 256, 1000000.0, 131072, share=0.25),
        "dynamic_short": frequencies("dynamic", 128, 1000000.0, 2048, 100, factor=2.0),
        "dynamic_long": frequencies("dynamic", 128, 1000000.0, 2048, 9000, factor=2.0),
    })
