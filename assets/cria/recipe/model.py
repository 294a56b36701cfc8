"""The network in plain PyTorch: llama's, with the rotation of neighbouring pairs that llama.cpp computes for 'llama'."""

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Shape:
    """Every row of a matrix is a multiple of 256 long, so that K-quants fit."""

    layers: int = 8
    width: int = 256
    heads: int = 8
    kv_heads: int = 4
    feed_forward: int = 768
    vocabulary: int = 4096
    context: int = 1024
    rope_base: float = 10_000.0
    epsilon: float = 1e-5

    @property
    def head(self) -> int:
        return self.width // self.heads

    def to_dict(self) -> dict:
        return asdict(self)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions of neighbouring pairs (Su et al., 2021); x is [batch, heads, places, head]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


# Places that look back together.
BLOCK = 128


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """What each place takes from those up to itself; all are [batch, heads, places, head].

    Written out in blocks, which leaves out most of what comes later: on a processor the backward pass of PyTorch's fused attention took 40 % of
    a step.
    """
    taken = []
    for start in range(0, q.shape[-2], BLOCK):
        rows = q[..., start : start + BLOCK, :]
        end = start + rows.shape[-2]
        weights = (rows @ k[..., :end, :].mT) * q.shape[-1] ** -0.5
        later = torch.ones(end - start, end, dtype=torch.bool).triu(start + 1)
        taken.append(weights.masked_fill(later, float("-inf")).softmax(-1, dtype=torch.float32).to(v.dtype) @ v[..., :end, :])
    return torch.cat(taken, -2)


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width, kv = shape.width, shape.kv_heads * shape.head

        def matrix(rows: int, columns: int, gain: float = 1.0) -> nn.Parameter:
            return nn.Parameter(torch.randn(rows, columns) * gain * 0.7 * columns**-0.5)

        deep = (2 * shape.layers) ** -0.5
        self.query, self.key, self.value = matrix(width, width), matrix(kv, width), matrix(kv, width)
        self.output = matrix(width, width, deep)
        self.gate, self.up = matrix(shape.feed_forward, width), matrix(shape.feed_forward, width)
        self.down = matrix(width, shape.feed_forward, deep)
        self.attention_norm, self.feed_forward_norm = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        s = self.shape
        batch, places, width = x.shape
        h = F.rms_norm(x, (width,), self.attention_norm, s.epsilon)
        kv = s.kv_heads * s.head
        q, k, v = F.linear(h, torch.cat((self.query, self.key, self.value))).split([width, kv, kv], -1)
        q = rotate(q.view(batch, places, s.heads, s.head).transpose(1, 2), cos, sin).to(v.dtype)
        k = rotate(k.view(batch, places, s.kv_heads, s.head).transpose(1, 2), cos, sin).to(v.dtype)
        v = v.view(batch, places, s.kv_heads, s.head).transpose(1, 2)
        shared = s.heads // s.kv_heads
        a = attention(q, k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1))
        x = x + F.linear(a.transpose(1, 2).reshape(batch, places, width), self.output)
        h = F.rms_norm(x, (width,), self.feed_forward_norm, s.epsilon)
        gate, up = F.linear(h, torch.cat((self.gate, self.up))).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


class Cria(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.randn(shape.vocabulary, shape.width) * 0.04)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.Parameter(torch.ones(shape.width))
        places = torch.arange(shape.context).float()
        angles = torch.outer(places, shape.rope_base ** (-torch.arange(0, shape.head, 2) / shape.head))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def hidden(self, ids: Tensor) -> Tensor:
        """The last layer's output for ids of shape [batch, places]."""
        places = ids.shape[1]
        x = F.embedding(ids, self.embedding)
        for layer in self.layers:
            x = layer(x, self.cos[:places], self.sin[:places])
        return F.rms_norm(x, (self.shape.width,), self.norm, self.shape.epsilon)

    def logits(self, hidden: Tensor) -> Tensor:
        """The embedding is the output matrix, too."""
        return F.linear(hidden, self.embedding)
