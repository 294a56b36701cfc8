"""Trains cria on the processor; conversations are made as they are needed.

    python train.py --tokenizer out/tokenizer.json --out out --million 30

A run that was stopped goes on from out/last.pt. With --from, training starts from what a model knows already, with its tokenizer:

    python train.py --tokenizer ../tokenizer.json --from ../cria-q8_0.gguf --out out --million 5 --rate 0.005
"""

import argparse
import math
import random
import time
from pathlib import Path
from typing import Callable, Iterator

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

import export
from corpus import conversation, pieces
from model import Cria, Shape

# Conversations are padded to one of these lengths: few shapes, so that the compiler has few to compile.
LENGTHS = [48, 64, 96, 128, 192, 256, 384, 512, 1024]
# How many places a step takes.
PLACES = 4096
SAVED_EVERY = 240.0


# What share of the conversations stumbles.
STUMBLES = 0.25


def stumbled(r: random.Random, ids: list[int], learned: list[bool], tokenizer: Tokenizer) -> tuple[list[int], list[bool]]:
    """The conversation with a mistake amid what is to be said: a piece said again, or a few tokens that mean nothing.

    The mistake is read, but never learned; what comes after it is: the rest of the answer, or its end where the same was said so often
    that nothing else helps. Without this a model only ever sees answers without a fault, and after the first one of its own it may go in
    circles. Numbers are no reason to end: with them, counting from 1 to 16 looked so much like a circle that it ended at 6.
    """
    end = tokenizer.token_to_id("<|im_end|>")
    at = r.choice([i for i, learn in enumerate(learned) if learn])
    start = max(at - r.choice([1, 1, 1, 2, 2, 3, 4, 6, 9, 14]), 0)
    piece = ids[start:at]
    if r.random() < 0.3 or not piece or not all(learned[start:at]) or end in piece:
        mistake = [r.randrange(tokenizer.get_vocab_size()) for _ in range(r.randrange(1, 4))]
    elif r.random() < 0.5 or any(letter.isdigit() for letter in tokenizer.decode(piece)):
        mistake = piece * r.choice([1, 1, 2])
    else:
        mistake = piece * r.randrange(*(8, 24) if len(piece) < 3 else (6, 10))
        return ids[:at] + mistake + [end], learned[:at] + [False] * len(mistake) + [True]
    return ids[:at] + mistake + ids[at:], learned[:at] + [False] * len(mistake) + learned[at:]


def encoded(tokenizer: Tokenizer, r: random.Random, count: int, early: bool = False) -> Iterator[tuple[list[int], list[bool]]]:
    """Ids of conversations, and which of them are to be learned."""
    parts: list[list[tuple[str, bool]]] = [list(pieces(conversation(r, early)[1])) for _ in range(count)]
    flat = tokenizer.encode_batch([text for part in parts for text, _ in part], add_special_tokens=False)
    done = iter(flat)
    for part in parts:
        ids, learned = [], []
        for _, learn in part:
            piece = next(done).ids
            ids += piece
            learned += [learn] * len(piece)
        if r.random() < STUMBLES:
            ids, learned = stumbled(r, ids, learned, tokenizer)
        yield ids, learned


def batches(tokenizer: Tokenizer, r: random.Random, early: Callable[[], bool]) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """What is read, what is to be said, and where (indices into the flattened places), without an end."""
    pools: dict[int, list] = {length: [] for length in LENGTHS}
    while True:
        for ids, learned in encoded(tokenizer, r, 512, early()):
            length = next((length for length in LENGTHS if len(ids) - 1 <= length), None)
            if length is None:
                continue
            pool = pools[length]
            pool.append((ids, learned))
            if len(pool) < PLACES // length:
                continue
            read, said = torch.zeros(len(pool), length, dtype=torch.long), torch.zeros(len(pool), length, dtype=torch.long)
            counts = torch.zeros(len(pool), length, dtype=torch.bool)
            for i, (row, learn) in enumerate(pool):
                n = len(row) - 1
                read[i, :n], said[i, :n] = torch.tensor(row[:-1]), torch.tensor(row[1:])
                counts[i, :n] = torch.tensor(learn[1:])
            pool.clear()
            # Filled up with places whose answer does not count: sizes that are never the same leave memory in crumbs.
            where = counts.flatten().nonzero()[:, 0]
            said = said.flatten()[where]
            rest = -len(where) % 512
            yield read, F.pad(said, (0, rest), value=-100), F.pad(where, (0, rest))


@torch.no_grad()
def orthogonal(g: Tensor) -> Tensor:
    """The nearest orthogonal matrices, by five steps of a Newton-Schulz iteration (Jordan, Muon, 2024)."""
    x = g.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
    return (x.mT if tall else x).float()


class Muon:
    """Momentum, made orthogonal, for the matrices of the layers; those of one shape are taken together."""

    MOMENTUM = 0.95
    # Without it, queries and keys grow until every place looks at one other place alone, and nothing is learned there any more.
    DECAY = 0.1

    def __init__(self, matrices: list[Tensor]) -> None:
        self.groups: dict[tuple[int, ...], list[Tensor]] = {}
        for matrix in matrices:
            self.groups.setdefault(tuple(matrix.shape), []).append(matrix)
        self.momenta = {shape: torch.zeros(len(group), *shape) for shape, group in self.groups.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for shape, group in self.groups.items():
            gradient = torch.stack([matrix.grad for matrix in group])
            momentum = self.momenta[shape]
            momentum.lerp_(gradient, 1 - self.MOMENTUM)
            step = orthogonal(gradient.lerp(momentum, self.MOMENTUM))
            for matrix, change in zip(group, step):
                matrix.mul_(1 - rate * self.DECAY).add_(change, alpha=-rate * max(1, shape[0] / shape[1]) ** 0.5)
                matrix.grad = None


# The parts of the training in which there is more to copy, and in which the learning rate stays high.
EARLY = 0.28
PLATEAU = 0.4


def rate_at(part: float, step: int) -> float:
    """The share of the learning rate at this part of the training: a short rise, a plateau, half a cosine down to a hundredth."""
    rise = min(1.0, (step + 1) / 100)
    if part < PLATEAU:
        return rise
    return rise * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (part - PLATEAU) / (1 - PLATEAU))))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--million", type=float, required=True, help="places to train on, padding included")
    parser.add_argument("--from", dest="start", type=Path, help="a GGUF file of cria whose weights to start from")
    parser.add_argument("--rate", type=float, default=0.016, help="Muon's; AdamW's is 0.15 of it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eager", action="store_true", help="without the compiler")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    torch.manual_seed(args.seed)
    torch.set_flush_denormal(True)
    args.out.mkdir(parents=True, exist_ok=True)

    tokenizer = Tokenizer.from_file(args.tokenizer)
    model = Cria(Shape(vocabulary=tokenizer.get_vocab_size()))
    matrices = [p for layer in model.layers for p in layer.parameters() if p.ndim == 2]
    others = [model.embedding, model.norm, *(p for layer in model.layers for p in layer.parameters() if p.ndim == 1)]
    muon, adam = Muon(matrices), torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=0.0)
    step = seen = 0
    last = args.out / "last.pt"
    if last.exists():
        kept = torch.load(last, weights_only=True)
        model.load_state_dict(kept["model"])
        adam.load_state_dict(kept["adam"])
        muon.momenta = kept["muon"]
        step, seen = kept["step"], kept["seen"]
    elif args.start:
        model.load_state_dict(export.read(args.start))
    # Each length is a shape of its own to the compiler.
    torch._dynamo.config.recompile_limit = 2 * len(LENGTHS)
    hidden = model.hidden if args.eager else torch.compile(model.hidden, dynamic=False)
    # A run that goes on sees other conversations than before.
    total = args.million * 1e6
    feed = batches(tokenizer, random.Random(f"{args.seed} {step}"), lambda: not args.start and seen / total < EARLY)

    def save() -> None:
        state = {"model": model.state_dict(), "adam": adam.state_dict(), "muon": muon.momenta, "step": step, "seen": seen}
        state["shape"] = model.shape.to_dict()
        torch.save(state, last.with_suffix(".new"))
        last.with_suffix(".new").replace(last)

    begun, saved, first, smooth = time.monotonic(), time.monotonic(), seen, None
    while seen < total:
        read, said, where = next(feed)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = hidden(read).flatten(0, 1)[where]
            loss = F.cross_entropy(model.logits(out).float(), said, ignore_index=-100)
        loss.backward()
        rate = args.rate * rate_at(seen / total, step)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        for group in adam.param_groups:
            group["lr"] = 0.15 * rate
        muon.step(rate)
        adam.step()
        adam.zero_grad(set_to_none=True)
        step += 1
        seen += read.numel()
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
        if step % 20 == 0:
            speed = (seen - first) / (time.monotonic() - begun)
            print(f"step {step}: {seen / 1e6:.2f} M places, loss {smooth:.4f}, rate {rate:.5f}, {speed:.0f} places/s", flush=True)
        if time.monotonic() - saved > SAVED_EVERY:
            save()
            saved = time.monotonic()
    save()


if __name__ == "__main__":
    main()
