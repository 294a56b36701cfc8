"""What all skills share: the shape of a conversation, what is held out of training, words, and how people type.

A skill is a function of a random number generator that makes one `Talk`. The same functions make the corpus and the
evaluation: a talk whose key is held out never comes into the corpus, and only such talks are asked in the evaluation.
"""

import csv
import random
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from wonderwords import RandomWord
from wonderwords.random_word import Defaults, filter_profanity

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]

# One combination of sixteen is kept for the evaluation.
HELD_OUT = 16


def held_out(key: str) -> bool:
    """Whether what this key names is only for the evaluation. The same on every machine."""
    return zlib.crc32(key.encode()) % HELD_OUT == 0


@dataclass
class Turn:
    """A question and its answer.

    `right` judges another answer than this one in the evaluation; nothing: the answer must contain `needs`.
    """

    user: str
    answer: str
    needs: tuple[str, ...] = ()
    right: Callable[[str], bool] | None = None

    def judge(self, answer: str) -> bool:
        if self.right is not None:
            return self.right(answer)
        text = answer.lower()
        return all(need.lower() in text for need in self.needs)


@dataclass
class Talk:
    """A conversation; the last turn is the one that an evaluation asks and judges."""

    turns: list[Turn]
    # What it asks, and of what; without one, it is never held out.
    key: str = ""
    system: str = ""
    # Texts that are no conversation are learned as they are, without a template.
    plain: str = ""
    # Keys of what else is in it: it is no part of the corpus where one of them is held out.
    also: set[str] = field(default_factory=set)
    # Whether its last answer is a fact that one word can give.
    fact: bool = False
    # Whether it stands alone, without other talk before it.
    drill: bool = False

    def fits(self, held: bool) -> bool:
        """Whether it may be asked in the evaluation, or else be learned."""
        if held:
            return not self.key or held_out(self.key)
        return not any(held_out(key) for key in {self.key, *self.also} if key)


def table(name: str) -> list[list[str]]:
    """The rows of tables/NAME.tsv; lines that begin with # are notes."""
    with open(HERE / "tables" / f"{name}.tsv", encoding="utf-8") as file:
        rows = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row for row in rows if row]


def lines(name: str) -> list[str]:
    return [row[0] for row in table(name)]


def _nouns() -> list[str]:
    nouns = {word for word in filter_profanity(_of_kind("noun", Defaults.NOUNS)) if word.islower()}
    return sorted(nouns)


def _of_kind(kind: str, source: str) -> list[str]:
    words = RandomWord(**{kind: source})
    return sorted(word for word in words.filter(include_categories=[kind]) if word.isalpha() and 3 <= len(word) <= 11)


NOUNS = _nouns()
ADJECTIVES = _of_kind("adjective", Defaults.ADJECTIVES)
NAMES = lines("names")
COLOURS = "red blue green yellow orange purple pink brown black white grey silver golden violet turquoise".split()

_ONSETS = "b bl br c ch cr d dr f fl g gl gr h j k kr l m n p pl pr qu r s sh sk sl sn st t tr v w z".split()
_VOWELS = "a e i o u ai ee oo ou ia".split()
_CODAS = ["", "", "", "b", "d", "g", "k", "l", "m", "n", "p", "r", "s", "t", "x", "nd", "rk", "st"]

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def made_up(r: random.Random) -> str:
    """A word that no language has, so that it can only be copied."""
    return "".join(r.choice(_ONSETS) + r.choice(_VOWELS) + r.choice(_CODAS) for _ in range(r.choice([1, 2, 2, 3])))


def spelled(n: int) -> str:
    """A number from 0 to 99 in words."""
    if n < 20:
        return _UNITS[n]
    tens, unit = divmod(n, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[unit]}" if unit else "")


def any_word(r: random.Random) -> str:
    """A word to copy: mostly a noun, at times an adjective, a number in words or one that does not exist."""
    kind = r.random()
    if kind < 0.62:
        return r.choice(NOUNS)
    if kind < 0.74:
        return r.choice(ADJECTIVES)
    if kind < 0.86:
        return spelled(r.randrange(100))
    return made_up(r)


def a(word: str) -> str:
    """The word with its article."""
    return ("an " if word[0].lower() in "aeiou" else "a ") + word


def filled(r: random.Random, text: str) -> str:
    """Chooses among the alternatives in every `[one|two|]` of a text, the inner ones first."""
    while (end := text.find("]")) >= 0:
        start = text.rindex("[", 0, end)
        text = text[:start] + r.choice(text[start + 1 : end].split("|")) + text[end + 1 :]
    return re.sub(r" +([?.,!\n]|$)", r"\1", re.sub(" +", " ", text))


_NEAR = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk",
    "k": "jl", "l": "ko", "m": "n", "n": "bm", "o": "ip", "p": "o", "r": "et", "s": "ad", "t": "ry", "u": "yi",
    "v": "cb", "w": "qe", "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip


def as_typed(r: random.Random, text: str, kept: tuple[str, ...] = ()) -> str:
    """The text as a person in a hurry types it: without capitals or full stops, at times polite, at times mistyped.

    Words that the answer must repeat are named in `kept` and stay as they are.
    """
    text = text.strip()
    if r.random() < 0.16:
        text = text[0].lower() + text[1:] if not text.startswith("I ") else text
        text = r.choice(["please ", "hey, ", "hi, ", "ok, ", "can you tell me: ", "so, ", "tell me: ", "cria, "]) + text
    elif r.random() < 0.06:
        text = text.rstrip("?.!") + r.choice([" please", ", please", ", thanks"]) + (text[-1] if text[-1] in "?." else "")
    if r.random() < 0.2 and not kept:
        text = text.lower()
    elif r.random() < 0.2:
        text = text[0].lower() + text[1:]
    if r.random() < 0.2:
        text = text.rstrip("?.!")
    if r.random() < 0.08:
        places = [i for i, c in enumerate(text) if c in _NEAR and not any(k in text[max(0, i - 24) : i + 24] for k in kept)]
        if places and not any(c.isdigit() or c in "/`" for c in text):
            i = r.choice(places)
            before, typed, after = text[:i], text[i], text[i + 1 :]
            near = r.choice(_NEAR[typed])
            text = before + r.choice([after, near + after, near + after, typed + typed + after, after[:1] + typed + after[1:]])
    return text or "?"
