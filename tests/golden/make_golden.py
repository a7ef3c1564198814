#!/usr/bin/python3
"""Makes the golden files beside this script, with PyTorch 1.13 (Debian's python3-torch).

Models are computed in double precision from parameters that are exact in float32, so that a stored
number is the true one but for its own rounding. Optimizers are computed in float32, as they are
used. Element types in the files: F32, I32, I64, F64.

  encoder_layer.safetensors         torch.nn.TransformerEncoderLayer: output, loss and gradients
  multi_head_attention.safetensors  torch.nn.MultiheadAttention in its options
  encoder_blocks.safetensors        torch.nn.TransformerEncoderLayer in its options
  decoder_blocks.safetensors        torch.nn.TransformerDecoderLayer in its options
  transformer_pre.safetensors       torch.nn.Transformer, normalised before each part
  transformer_post.safetensors      the same, after each sum
  textbook.safetensors              the attention chapter's classes, in plain PyTorch
  textbook_multi_head.safetensors   its multi-head attention
  modern.safetensors                SwiGLU, tied embedding, grouped heads through a window, in plain PyTorch
  position.safetensors              encoder layers that know positions, in plain PyTorch
  convolution.safetensors           torch.nn.Conv1d and Conv2d in their options
  losses.safetensors                torch's losses, BatchNorm in evaluation, LayerNorm without bias
  char_lm.safetensors               ten training steps of examples/char_lm with two layers
  lora.safetensors                  training of low-rank updates in an attention, in plain PyTorch
  rnn.safetensors                   torch.nn.RNN, GRU and LSTM of two layers, the last two in both directions
  unet, conformer, crnn.safetensors models of papers, their state_dicts and losses in training
  optimizer.safetensors             torch.optim.SGD and AdamW, five steps on 37 numbers

In a terminal: tests/golden/make_golden.py [the folder to write to]
"""

import sys
from pathlib import Path

from char_lm import char_lm_file
from convolution import convolution
from golden import save
from layers import (
    decoder_blocks, encoder_blocks, encoder_layer, multi_head_attention, transformer,
)
from lora import lora
from losses import losses
from modern import modern
from optimizers import optimizers
from papers import conformer, crnn, unet
from position import position
from recurrent import recurrent
from textbook import textbook, textbook_multi_head

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, tensors in {
        "encoder_layer": encoder_layer(),
        "multi_head_attention": multi_head_attention(),
        "encoder_blocks": encoder_blocks(),
        "decoder_blocks": decoder_blocks(),
        "transformer_pre": transformer(norm_first=True),
        "transformer_post": transformer(norm_first=False),
        "textbook": textbook(),
        "textbook_multi_head": textbook_multi_head(),
        "modern": modern(),
        "position": position(),
        "convolution": convolution(),
        "losses": losses(),
        "char_lm": char_lm_file(),
        "lora": lora(),
        "rnn": recurrent(),
        "unet": unet(),
        "conformer": conformer(),
        "crnn": crnn(),
        "optimizer": optimizers(),
    }.items():
        save(folder / f"{name}.safetensors", tensors)
