#!/usr/bin/env python3
"""The model of this folder in PyTorch, trained on the same digits in the same way: loss, accuracy on
the digits held out, and time.

In a terminal: examples/digits/peer.py [DIGITS.CSV] [--epochs N] [--batch N] [--learning-rate X] [--seed N]
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, positions):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 48, 3, padding=1, stride=2)
        self.positions = nn.Parameter(0.02 * torch.randn(16, 48)) if positions else None
        layer = nn.TransformerEncoderLayer(48, 4, 96, 0.1, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(
            layer, 2, norm=nn.LayerNorm(48), enable_nested_tensor=False)
        self.classes = nn.Linear(48, 10)

    def forward(self, image):
        x = torch.relu(self.conv2(torch.relu(self.conv1(image[:, None]))))
        x = x.flatten(2).transpose(1, 2)
        if self.positions is not None:
            x = x + self.positions
        return self.classes(self.encoder(x).mean(1))


def moved(images, random):
    """Each digit moved by up to a pixel in each direction."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    down, across = random.integers(0, 3, (2, len(images)))
    return np.stack([p[d:d + 8, a:a + 8] for p, d, a in zip(padded, down, across)])


def train(model, images, labels, options):
    random = np.random.default_rng(options.seed)
    batches = math.ceil(len(images) / options.batch)
    total = batches * options.epochs
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.01)

    def rate(step):
        if step < 50:
            return (step + 1) / 50
        return 0.01 + 0.99 * (1 + math.cos(math.pi * (step - 50) / (total - 50))) / 2

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    losses = []
    for _ in range(options.epochs):
        order = random.permutation(len(images))
        total_loss = 0.0
        for first in range(0, len(order), options.batch):
            some = order[first:first + options.batch]
            x = torch.from_numpy(moved(images[some], random))
            loss = nn.functional.cross_entropy(model(x), torch.from_numpy(labels[some]))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            schedule.step()
            total_loss += loss.item()
        losses.append(total_loss / batches)
    return losses


def main():
    root = Path(__file__).parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", nargs="?", default=root / "build/weights/digits/digits.csv")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rows = np.loadtxt(options.data, delimiter=",", dtype=np.float32)
    images, labels = rows[:, :64].reshape(-1, 8, 8) / 16, rows[:, 64].astype(np.int64)
    held_out = np.arange(1, len(rows) + 1) % 5 == 0
    for positions in (True, False):
        model = Model(positions)
        begin = time.perf_counter()
        losses = train(model, images[~held_out], labels[~held_out], options)
        seconds = time.perf_counter() - begin
        model.eval()
        with torch.no_grad():
            guess = model(torch.from_numpy(images[held_out])).argmax(1).numpy()
        right = 100 * (guess == labels[held_out]).mean()
        shown = [losses[i] for i in (0, len(losses) // 10, len(losses) // 2, -1)]
        print("positions" if positions else "none     ",
              "loss " + ", ".join(f"{x:.4f}" for x in shown),
              f"held-out {right:.2f}%  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
