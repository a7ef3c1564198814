"""Training of a low-rank update of an attention's projections, as peft's LoraConfig has it, in plain
PyTorch: grouped heads, rotary positions, a causal mask, as in Llama."""

import math

import torch

from golden import f64, parameter, tokens

VOCAB, EMBED, HEADS, GROUP, HEAD_DIM, RANK, ALPHA = 256, 24, 2, 3, 4, 4, 8
STEPS, BATCH, POS = 8, 3, 12


def rotary(x):
    """x [batch, heads, positions, HEAD_DIM], pairs of element i and i + HEAD_DIM / 2."""
    angles = torch.arange(x.shape[-2]).double()[:, None] * 10000.0 ** -(
        torch.arange(0, HEAD_DIM, 2).double() / HEAD_DIM
    )
    cosine, sine = (t.repeat(1, 2) for t in (angles.cos(), angles.sin()))
    low, high = x.chunk(2, -1)
    return x * cosine + torch.cat([-high, low], -1) * sine


def logits(p, ids):
    def project(name, x):
        y = x @ p[name + ".weight"].T
        if name + ".lora_A.weight" in p:
            update = x @ p[name + ".lora_A.weight"].T @ p[name + ".lora_B.weight"].T
            y = y + ALPHA / RANK * update
        return y

    def heads(name, n):
        return project(name, x).unflatten(-1, (n, HEAD_DIM)).transpose(1, 2)

    x = p["tokens.weight"][ids]
    q = rotary(heads("q_proj", HEADS * GROUP))
    k = rotary(heads("k_proj", HEADS)).repeat_interleave(GROUP, 1)
    v = heads("v_proj", HEADS).repeat_interleave(GROUP, 1)
    masked = torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()
    scores = q @ k.mT / math.sqrt(HEAD_DIM)
    mixed = scores.masked_fill(masked, -math.inf).softmax(-1) @ v
    y = x + project("o_proj", mixed.transpose(1, 2).flatten(2))
    return y @ p["tokens.weight"].T


def lora():
    """"output.losses" and "output.gradient_norms" of STEPS steps of AdamW for the updates alone."""
    queries, keys = HEADS * GROUP * HEAD_DIM, HEADS * HEAD_DIM
    shapes = {"tokens": (VOCAB, EMBED), "q_proj": (queries, EMBED), "k_proj": (keys, EMBED),
              "v_proj": (keys, EMBED), "o_proj": (EMBED, queries)}
    updated = ("q_proj", "v_proj")
    for name in updated:
        shapes[name + ".lora_A"], shapes[name + ".lora_B"] = (RANK, EMBED), (shapes[name][0], RANK)
    p = {n + ".weight": 10 * parameter(n + ".weight", shape).double() for n, shape in shapes.items()}
    trained = [t.requires_grad_() for name, t in p.items() if ".lora_" in name]
    optimizer = torch.optim.AdamW(trained, lr=0.01, weight_decay=0.01)
    losses, norms = [], []
    for step in range(STEPS):
        ids = tokens(step, BATCH, POS + 1)
        loss = torch.nn.functional.cross_entropy(logits(p, ids[:, :-1]).flatten(0, 1),
                                                 ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norms.append(math.sqrt(sum((t.grad**2).sum().item() for t in trained)))
        losses.append(loss.item())
        optimizer.step()
    return {"output.losses": f64(losses), "output.gradient_norms": f64(norms)}
