"""Trains the tokenizer on the corpus: byte-level BPE, 4096 tokens, digits one by one ('smollm' in llama.cpp's terms).

A word is cut into the same pieces wherever it stands. Where the space before a word is part of its first piece, as is usual, `"elixir"` and
` elixir` have nothing in common, and a small network that is to repeat the one as the other has to learn how every word is spelled. So pieces
are learned without spaces, and the space joins only whole words that are frequent; in front of all others it is a token of its own.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Iterator

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from corpus import conversation, pieces

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SIZE = 4096
# How many of them are a word with the space before it.
SPACED = 640
# A space as byte-level BPE writes it.
SPACE = "Ġ"

_DIGITS = pre_tokenizers.Digits(individual_digits=True)
_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
CUT = pre_tokenizers.Sequence([_DIGITS, _BYTES])
CUT_AT_SPACES = pre_tokenizers.Sequence([_DIGITS, pre_tokenizers.Split(" ", "isolated"), _BYTES])


def texts(conversations: int) -> Iterator[str]:
    r = random.Random(0)
    for _ in range(conversations):
        yield "".join(text for text, _ in pieces(conversation(r)[1]))


def spaced(vocabulary: dict[str, int], conversations: int) -> list[str]:
    """The most frequent words after a space that are one piece."""
    count: Counter[str] = Counter()
    for text in texts(conversations):
        count.update(word[1:] for word, _ in CUT.pre_tokenize_str(text) if word[0] == SPACE and word[1:] in vocabulary)
    return [word for word, _ in count.most_common(SPACED)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--conversations", type=int, default=60_000)
    args = parser.parse_args()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = CUT_AT_SPACES
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - SPACED, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts(args.conversations), trainer)
    # Merges are done in their order: these come last, when a word is whole.
    tokenizer.pre_tokenizer = CUT
    written = json.loads(tokenizer.to_str())
    model = written["model"]
    for word in spaced(model["vocab"], args.conversations):
        model["vocab"][SPACE + word] = len(model["vocab"])
        model["merges"].append([SPACE, word])
    args.out.write_text(json.dumps(written, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
