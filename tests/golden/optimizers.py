"""torch.optim.SGD and AdamW, five steps on 37 numbers."""

import torch

from golden import f32


def optimizers():
    """"parameters", "gradients" [5, 37], and for each optimizer NAME the parameters after each
    step, "NAME.parameters" [5, 37]."""
    torch.manual_seed(2)
    start, gradients = torch.randn(37), torch.randn(5, 37)
    gradients[:, 3] = 0  # a parameter that nothing depends on
    tensors = {"parameters": f32(start), "gradients": f32(gradients)}
    sgd = dict(lr=0.05, momentum=0.9, weight_decay=0.01)
    made = {
        "sgd": lambda p: torch.optim.SGD(p, **sgd),
        "sgd_nesterov": lambda p: torch.optim.SGD(p, **sgd, nesterov=True),
        "sgd_plain": lambda p: torch.optim.SGD(p, lr=0.05),
        "adamw": lambda p: torch.optim.AdamW(
            p, lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
        ),
    }
    for name, make in made.items():
        p = start.clone().requires_grad_()
        optimizer = make([p])
        after = []
        for g in gradients:
            p.grad = g.clone()
            optimizer.step()
            after.append(p.detach().clone())
        tensors[name + ".parameters"] = f32(torch.stack(after))
    return tensors
