"""Trains the tokenizer on the corpus: byte-level BPE, 4096 tokens, digits one by one ('smollm' in llama.cpp's terms)."""

import argparse
import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from corpus import conversation, pieces

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SIZE = 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--conversations", type=int, default=60_000)
    args = parser.parse_args()
    r = random.Random(0)
    texts = ("".join(text for text, _ in pieces(conversation(r)[1])) for _ in range(args.conversations))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(args.out)


if __name__ == "__main__":
    main()
