"""Three models of papers in torch.nn's modules. A file has the model's state_dict under its own
names, what it is given ("input.…"), its results before training and the losses of STEPS steps."""

import torch
from torch import nn
from torch.nn import functional

from golden import f32, f64, i32
from layers import normal, padding

STEPS = 50


class UNet(nn.Module):
    """Ronneberger et al. 2015, of one level, with padding and batch normalization."""

    def __init__(self):
        super().__init__()
        self.down = self.block(1, 4, nn.LeakyReLU(0.1))
        self.middle = self.block(4, 8, nn.SiLU())
        self.up = self.block(12, 4, nn.LeakyReLU(0.1))
        self.out = nn.Conv2d(4, 3, 1)

    @staticmethod
    def block(channels, out, activation):
        first, second = nn.Conv2d(channels, out, 3, padding=1), nn.Conv2d(out, out, 3, padding=1)
        return nn.Sequential(first, nn.BatchNorm2d(out), activation,
                             second, nn.BatchNorm2d(out), activation)

    def forward(self, x):
        skip = self.down(x)
        below = functional.interpolate(self.middle(functional.max_pool2d(skip, 2)), scale_factor=2)
        return self.out(self.up(torch.cat([skip, below], 1))).movedim(1, -1)  # as weft has it


class Conformer(nn.Module):
    """The block of Gulati et al. 2020, with absolute positions."""

    def __init__(self, embed, heads, hidden, taps):
        super().__init__()
        self.ffn1, self.ffn2 = (nn.Sequential(
            nn.LayerNorm(embed), nn.Linear(embed, hidden), nn.SiLU(), nn.Linear(hidden, embed),
        ) for _ in range(2))
        self.attention_norm = nn.LayerNorm(embed)
        self.attention = nn.MultiheadAttention(embed, heads, batch_first=True)
        self.conv_norm = nn.LayerNorm(embed)
        self.conv = nn.Sequential(
            nn.Conv1d(embed, 2 * embed, 1), nn.GLU(1),
            nn.Conv1d(embed, embed, taps, groups=embed, padding=taps // 2, bias=False),
            nn.BatchNorm1d(embed), nn.SiLU(), nn.Conv1d(embed, embed, 1),
        )
        self.norm = nn.LayerNorm(embed)

    def forward(self, x, lengths):
        x = x + self.ffn1(x) / 2
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, key_padding_mask=padding(lengths, x.shape[1]),
                               need_weights=False)[0]
        x = x + self.conv(self.conv_norm(x).transpose(1, 2)).transpose(1, 2)
        return self.norm(x + self.ffn2(x) / 2)


class CRNN(nn.Module):
    """Shi et al. 2015: convolutions, whose columns an LSTM reads in both directions."""

    def __init__(self, channels, hidden, classes):
        super().__init__()
        reflected = {"padding": 1, "padding_mode": "reflect"}
        self.cnn = nn.Sequential(
            nn.Conv2d(1, channels, 3, stride=2, **reflected), nn.ELU(),
            nn.Conv2d(channels, channels, 3, stride=(2, 1), **reflected), nn.ELU(),
        )
        self.rnn = nn.LSTM(2 * channels, hidden, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        columns = self.cnn(x).permute(0, 3, 1, 2).flatten(2)
        return self.out(self.rnn(columns)[0])


def trained(model, inputs, given, loss_of, optimizer):
    """`model` in evaluation, with statistics as if it had been trained before."""
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    tensors = {name: t.numpy().copy() for name, t in model.state_dict().items()}
    tensors |= {"input." + name: t for name, t in inputs.items()}
    model.double().eval()
    optimizer = optimizer(model.parameters())
    losses = []
    for step in range(STEPS):
        y = model(*given)
        if step == 0:
            tensors["output.y"] = f32(y)
        loss = loss_of(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return tensors | {"output.losses": f64(losses)}


def unet():
    torch.manual_seed(11)
    x, targets = normal(2, 1, 12, 8), torch.randint(3, (2, 12, 8))
    return trained(
        UNet(), {"x": f32(x), "targets": i32(targets)}, (x,),
        lambda y: functional.cross_entropy(y.flatten(0, -2), targets.flatten()),
        lambda p: torch.optim.AdamW(p, lr=0.004, weight_decay=0.05),
    )


def conformer():
    torch.manual_seed(12)
    x, lengths, target = normal(2, 11, 12), [11, 7], normal(2, 11, 12)
    return trained(
        Conformer(12, 3, 20, 5), {"x": f32(x), "lengths": i32(lengths), "target": f32(target)},
        (x, lengths), lambda y: functional.mse_loss(y, target),
        lambda p: torch.optim.AdamW(p, lr=0.01),
    )


def crnn():
    torch.manual_seed(13)
    x, targets = normal(2, 1, 8, 20), torch.randint(7, (2, 10))
    targets[0, 3] = targets[1, 7:] = -100
    return trained(
        CRNN(6, 8, 7), {"x": f32(x), "targets": i32(targets)}, (x,),
        lambda y: functional.cross_entropy(y.flatten(0, -2), targets.flatten(), label_smoothing=0.1),
        lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.9, weight_decay=1e-3, nesterov=True),
    )
