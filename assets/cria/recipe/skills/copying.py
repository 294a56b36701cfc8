"""Repeating, using and rearranging words of the prompt. The longest of these teach a network to look back at all."""

import random

from common import NOUNS, Talk, Turn, a, any_word, as_typed, filled, made_up


def repeated(r: random.Random) -> Talk:
    words = " ".join(any_word(r) for _ in range(r.choice([1, 2, 3, 4, 6, 9, 14])))
    user = filled(
        r,
        "[Repeat after me|Repeat this|Say this|Say exactly this|Copy this text|Echo this|Write this again|Repeat exactly]: ",
    )
    quoted = r.random() < 0.3
    shown = f'"{words}"' if quoted else words
    return Talk([Turn(f"{user} {shown}".replace("  ", " "), words, right=lambda got: got.strip(' ."') == words)], key=f"repeat {words}")


def long_copy(r: random.Random) -> Talk:
    """A long list of words that have nothing to do with each other: nothing but looking back helps."""
    one = made_up if r.random() < 0.3 else any_word
    words = [one(r) for _ in range(r.randrange(16, 70))]
    user = filled(r, "[Repeat|Copy|Write again|Say again] [these words|this list|this]: ") + " " + " ".join(words)
    return Talk([Turn(user.replace("  ", " "), " ".join(words))], drill=True)


def _placed(r: random.Random, last: str) -> Talk:
    """Which word stands where; at times several questions about one list, the last of this sort."""
    words = r.sample(NOUNS, r.randrange(3, 8))
    turns, keys = [], []
    count = r.choice([1, 1, 2, 4])
    for i in range(count):
        at = r.randrange(len(words) - 1)
        one, next_one = words[at : at + 2]
        sort = last if i == count - 1 else r.choice(["first", "last", "after", "before"])
        if sort in ("first", "last"):
            value = words[0] if sort == "first" else words[-1]
            ask, answer = f"[What is the {sort} word?|Which word comes {sort}?|Say the {sort} word.]", f"The {sort} word is {value}."
        elif sort == "after":
            ask, answer, value = f"[Which word comes after {one}?|What comes after {one}?]", f"After {one} comes {next_one}.", next_one
        else:
            ask, answer, value = f"[Which word comes before {next_one}?|What comes before {next_one}?]", _before(words, next_one), one
        turns.append(Turn(filled(r, ask), answer, (f"{', ' if sort == 'before' else ' '}{value}.",)))
        keys.append(f"named {value}")
    turns[0].user = filled(r, "[Words|Here are words|A list|Look at these words]:") + " " + ", ".join(words) + ". " + turns[0].user
    return Talk(turns, key=keys[-1], also=set(keys))


def _before(words: list[str], word: str) -> str:
    """Found by counting: a word cannot know which one comes after it, and so a small network finds what stands before by its number."""
    at = words.index(word)
    counted = ", ".join(f"{i}. {one}" for i, one in enumerate(words[: at + 1], 1))
    return f"{counted}. Before {at + 1} is {at}, {words[at - 1]}."


def named_words(r: random.Random) -> Talk:
    """The first word of a list, its last, or the one after another."""
    return _placed(r, r.choice(["first", "last", "after"]))


def word_before(r: random.Random) -> Talk:
    """The word before another."""
    return _placed(r, "before")


def looked_back(r: random.Random) -> Talk:
    """Many questions about one list: what comes before or after each of its words, or all of it the other way round."""
    words = r.sample(NOUNS, r.randrange(4, 14))
    listed = ", ".join(words)
    if r.random() < 0.35:
        return Talk([Turn(f"Turn this list round: {listed}", ", ".join(reversed(words)))], also={f"arrange {words[0]}"}, drill=True)
    word, step = r.choice([("before", -1), ("before", -1), ("after", 1)])
    # To count takes many words.
    asked = r.sample(words[1:] if step < 0 else words[:-1], 3 if step < 0 else r.randrange(3, len(words)))
    found = {one: words[words.index(one) + step] for one in asked}
    user = f"Words: {listed}. What comes {word} each of these: {', '.join(asked)}?"
    answer = "\n".join(_before(words, one) if step < 0 else f"After {one} comes {value}." for one, value in found.items())
    return Talk([Turn(user, answer)], also={f"named {value}" for value in found.values()}, drill=True)


_SENTENCES = [
    "I saw {w} on the way home.", "There was {w} in the garden this morning.", "She drew {w} in her notebook.",
    "Nobody had ever seen {w} like that.", "We talked about {w} until late at night.", "He told me a story about {w}.",
    "I dreamed of {w} last night.", "My neighbour gave me {w} for my birthday.",
]  # fmt: skip


def used(r: random.Random) -> Talk:
    """A sentence with a given word."""
    word = r.choice(NOUNS) if r.random() < 0.7 else made_up(r)
    user = filled(
        r,
        f"[Use the word {word} in a sentence.|Write a sentence with the word {word}.|Make a sentence with {word}.|"
        f'Give me a sentence that contains the word "{word}".|Write one sentence about {a(word)}.]',
    )
    answer = r.choice(_SENTENCES).format(w=a(word))
    return Talk([Turn(as_typed(r, user, (word,)), answer, (word,))], key=f"use {word}")


def arranged(r: random.Random) -> Talk:
    """Words as a list, joined by commas, turned round."""
    words = r.sample(NOUNS, r.randrange(2, 6))
    listed = ", ".join(words)
    kind = r.random()
    if kind < 0.3:
        user = filled(r, f"[Make a list of these words|Write these words as a list|Make bullet points of]: {listed}")
        answer = "\n".join(f"- {word}" for word in words)
    elif kind < 0.6:
        user = filled(r, f"[Make a numbered list of|Number these words|Number these]: {listed}")
        answer = "\n".join(f"{i}. {word}" for i, word in enumerate(words, 1))
    elif kind < 0.8:
        user = filled(r, f"[Turn this list round|Write these words in reverse order|Reverse the order of these words]: {listed}")
        answer = ", ".join(reversed(words))
    else:
        user = filled(r, f"[How many words are these|How many words is that|Count these words]: {listed}")
        answer = f"{len(words)} words."
    return Talk([Turn(as_typed(r, user, tuple(words)), answer, right=lambda got: got.strip() == answer)], key=f"arrange {words[0]}")


def either(r: random.Random) -> Talk:
    """A choice between what is offered, and yes or no to what was said: short answers that depend on the question."""
    one, two = any_word(r), any_word(r)
    user = filled(r, f"[Choose one|Pick one|What do you like better|Which one]: {one} or {two}?")
    pick = r.choice([one, two])
    return Talk([Turn(as_typed(r, user, (one, two)), filled(r, f"[I would take {pick}.|{pick}.|I choose {pick}.]"))], key=f"either {one}")
