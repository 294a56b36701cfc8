"""The corpus: conversations made while training, and the held-out ones that the evaluation asks. Nothing is stored.

    python corpus.py --show 20        # conversations as the model sees them
    python corpus.py --shares         # what share of the tokens each skill takes
"""

import argparse
import random
from collections import Counter
from typing import Callable, Iterator

from common import Talk, Turn
from skills import copying, facts, geography, help, manners, memory, numbers, writing

Skill = Callable[[random.Random], Talk]

# How often a conversation of this skill is made, of all; short ones take fewer tokens than their share here.
SINGLE: dict[str, tuple[Skill, float]] = {
    "capital": (geography.capital, 7.0),
    "country fact": (geography.country_fact, 3.5),
    "country of": (geography.country_of, 4.0),
    "several capitals": (geography.several_capitals, 4.0),
    "arithmetic": (numbers.arithmetic, 14.0),
    "drill": (numbers.drill, 14.0),
    "compare": (numbers.compare, 7.0),
    "counting": (numbers.counting, 4.0),
    "order": (numbers.order, 9.0),
    "neighbour": (numbers.neighbour, 1.0),
    "looked up": (memory.looked_up, 4.0),
    "repeated": (copying.repeated, 6.0),
    "long copy": (copying.long_copy, 4.0),
    "named words": (copying.named_words, 4.0),
    "word before": (copying.word_before, 4.0),
    "looked back": (copying.looked_back, 8.0),
    "used": (copying.used, 2.0),
    "arranged": (copying.arranged, 4.5),
    "either": (copying.either, 1.0),
    "what does": (help.what_does, 5.0),
    "which command": (help.which_command, 6.5),
    "which key": (help.which_key, 3.5),
    "no such command": (help.no_such_command, 1.0),
    "concept": (help.concept, 4.0),
    "identity": (manners.identity, 2.0),
    "small talk": (manners.small_talk, 3.5),
    "joke": (manners.joke, 0.6),
    "too small": (manners.too_small, 6.0),
    "named": (manners.named, 1.5),
    "opposite": (facts.opposite, 1.2),
    "calendar": (facts.calendar, 0.8),
    "known": (facts.known, 1.5),
    "kinds": (facts.kinds, 3.0),
    "of a kind": (facts.of_a_kind, 4.0),
    "program": (facts.program, 1.6),
    "haiku": (writing.haiku, 10.0),
    "story": (writing.story, 8.0),
    "prose": (writing.prose, 1.2),
    "plain text": (writing.plain_text, 0.5),
}

# Those that need other turns around them.
AMONG: dict[str, tuple[Callable[[random.Random, list[Turn]], Talk], float]] = {
    "memory": (memory.recalled, 18.0),
    "correction": (memory.corrected, 3.5),
    "system facts": (memory.from_system, 4.0),
}

STYLED = 6.0
# Looking back at what was said comes late in a small network, and nothing of all this works without it: at first there is more of what
# cannot be answered otherwise.
EARLY = {"long copy": 4.0, "repeated": 2.5, "looked up": 2.0, "named words": 2.0, "word before": 2.0, "used": 1.5, "named": 2.0}
# What may stand between two turns of another conversation: short, and with nothing to remember.
_FILLERS = ["capital", "country fact", "arithmetic", "small talk", "identity", "opposite", "known", "calendar", "too small", "which command", "joke", "haiku"]
_STYLABLE = ["capital", "country fact", "country of", "opposite", "known", "calendar", "arithmetic", "small talk"]


def _made(r: random.Random, name: str) -> Talk:
    """One conversation of a skill, whatever is held out."""
    if name in SINGLE:
        return SINGLE[name][0](r)
    if name == "styled":
        return manners.styled(r, [of_skill(r, r.choice(_STYLABLE)) for _ in range(r.choice([1, 1, 2, 3]))])
    return AMONG[name][0](r, _fillers(r, [0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 8]))


def _fillers(r: random.Random, counts: list[int]) -> list[Turn]:
    return [turn for _ in range(r.choice(counts)) for turn in of_skill(r, r.choice(_FILLERS)).turns]


def of_skill(r: random.Random, name: str, held: bool = False) -> Talk:
    """One conversation of a skill: of those held out, or of all others."""
    while not (talk := _made(r, name)).fits(held):
        pass
    return talk


NAMES = [*SINGLE, *AMONG, "styled"]
_WEIGHTS = [*(weight for _, weight in SINGLE.values()), *(weight for _, weight in AMONG.values()), STYLED]
_EARLY_WEIGHTS = [weight * EARLY.get(name, 1.0) for name, weight in zip(NAMES, _WEIGHTS)]


def conversation(r: random.Random, early: bool = False) -> tuple[str, Talk]:
    """One conversation of the corpus with the name of its skill: often with other talk before, at times a system prompt that says nothing."""
    name = r.choices(NAMES, _EARLY_WEIGHTS if early else _WEIGHTS)[0]
    talk = of_skill(r, name)
    if talk.plain:
        return name, talk
    if name in SINGLE and not talk.drill and r.random() < 0.35:
        # At times so much that the context is nearly full.
        talk.turns = _fillers(r, [24] if r.random() < 0.04 else [1, 1, 1, 2, 2, 3, 3, 10]) + talk.turns
    if not talk.system and r.random() < 0.2:
        talk.system = manners.neutral_system(r)
    return name, talk


def pieces(talk: Talk) -> Iterator[tuple[str, bool]]:
    """The text of a conversation in ChatML, and whether the model is to learn to write the piece."""
    if talk.plain:
        yield talk.plain, True
        yield "<|im_end|>", True
        return
    if talk.system:
        yield f"<|im_start|>system\n{talk.system}<|im_end|>\n", False
    for turn in talk.turns:
        yield f"<|im_start|>user\n{turn.user}<|im_end|>\n<|im_start|>assistant\n", False
        yield f"{turn.answer}<|im_end|>", True
        yield "\n", False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--skill", choices=NAMES)
    parser.add_argument("--held", action="store_true", help="conversations that are held out")
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    r = random.Random(args.seed)
    for _ in range(args.show):
        name, talk = (args.skill, of_skill(r, args.skill, args.held)) if args.skill else conversation(r)
        print(f"--- {name}\n" + "".join(text for text, _ in pieces(talk)))
    if args.shares:
        size, learned = Counter(), Counter()
        for _ in range(6000):
            name, talk = conversation(r)
            for text, learn in pieces(talk):
                size[name] += len(text)
                learned[name] += len(text) * learn
        for name, count in size.most_common():
            print(f"{name:18} {count / size.total():6.1%} of the text, {learned[name] / learned.total():6.1%} of what is learned")


if __name__ == "__main__":
    main()
