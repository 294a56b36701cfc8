"""Arithmetic to a hundred, comparing, counting. Sums come one at a time, as people ask them, and in drills of many."""

import random

from common import Talk, Turn, as_typed, filled, spelled


def _sum(r: random.Random, most: int = 100) -> tuple[int, str, int, int]:
    """Two numbers, a sign, and the result; everything stays within a hundred, and of sums and differences within `most`."""
    kind = r.random()
    if kind < 0.45:
        x = r.randrange(most + 1)
        y = r.randrange(most + 1 - x)
        if r.random() < 0.5:
            x, y = y, x
        return x, "+", y, x + y
    if kind < 0.8:
        x = r.randrange(most + 1)
        y = r.randrange(x + 1)
        return x, "-", y, x - y
    if kind < 0.94:
        x = r.randrange(1, 11)
        y = r.randrange(11)
        return x, "*", y, x * y
    y = r.randrange(1, 11)
    return (x := r.randrange(11)) * y, "/", y, x


def _shown(x: int, sign: str, y: int, result: int) -> str:
    """The sum with its result, worked out as one does it in the head.

    Where both digits of the second number count, the tens come first. A product is known with the smaller number first, and to divide is to
    find such a product: of all these only one half has to be learned.
    """
    tens, units = y // 10 * 10, y % 10
    if sign in "+-" and tens and units:
        between = x + tens if sign == "+" else x - tens
        return f"{x} {sign} {y} = {between} {sign} {units} = {result}"
    if sign == "*" and x > y:
        return f"{x} * {y} = {y} * {x} = {result}"
    if sign == "/":
        return f"{x} / {y} = {min(y, result)} * {max(y, result)} / {y} = {result}"
    return f"{x} {sign} {y} = {result}"


_WORDS = {
    "+": ["plus", "plus", "and"],
    "-": ["minus", "minus", "take away"],
    "*": ["times", "times", "multiplied by"],
    "/": ["divided by"],
}


def _key(x: int, sign: str, y: int) -> str:
    """What is held out: sums both ways round, products one way, for nobody can work out one that was never heard."""
    return f"sum {min(x, y)}+{max(x, y)}" if sign == "+" else f"sum {x}{sign}{y}"


def _in_words(r: random.Random, x: int, sign: str, y: int) -> str:
    one, other = (spelled(n) if n < 100 else str(n) for n in (x, y))
    return f"{one} {r.choice(_WORDS[sign])} {other}"


def arithmetic(r: random.Random) -> Talk:
    x, sign, y, result = _sum(r)
    shown = f"{x} {sign} {y}"
    if r.random() < 0.2:
        asked = f"{x} {r.choice(_WORDS[sign])} {y}"
    elif r.random() < 0.08:
        asked = _in_words(r, x, sign, y)
    elif r.random() < 0.1:
        asked = f"{x}{sign}{y}"
    elif sign == "*" and r.random() < 0.3:
        asked = f"{x} × {y}"
    else:
        asked = shown
    ask = filled(
        r,
        r.choice(
            [
                "What is {s}?", "What is {s}?", "What's {s}?", "{s}", "{s} = ?", "{s}?", "How much is {s}?", "Calculate {s}.",
                "Compute {s}.", "Can you work out {s}?", "Add it up: {s}", "Tell me what {s} is.", "Solve {s}.", "What does {s} make?",
            ]
        ),
    ).format(s=asked)  # fmt: skip
    if ask.startswith("Add") and sign != "+":
        ask = f"What is {asked}?"

    def right(answer: str) -> bool:
        return answer.split("=")[-1].strip(" .*`\n") == str(result)

    return Talk([Turn(as_typed(r, ask, (asked,)), _shown(x, sign, y, result), right=right)], key=_key(x, sign, y))


def drill(r: random.Random) -> Talk:
    """Many sums at once: what is learned from one text is twenty times as much."""
    most = r.choice([100, 100, 100, 20])
    sums = [_sum(r, most) for _ in range(r.randrange(4, 24))]
    if r.random() < 0.3:
        # Neighbours show how carrying works.
        x, sign, y, _ = next(s for s in iter(lambda: _sum(r), None) if s[1] in "+-")
        near = [(x, y + d) for d in range(-6, 7) if y + d >= 0]
        sums = [(a, sign, b, a + b if sign == "+" else a - b) for a, b in near if 0 <= (a + b if sign == "+" else a - b) <= 100]
    user = filled(r, "[Work out|Calculate|Solve|Do] [these|these sums|the following|all of these]:") + " "
    in_words = r.random() < 0.15
    user += ", ".join(_in_words(r, x, sign, y) if in_words else f"{x} {sign} {y}" for x, sign, y, _ in sums)
    answer = "\n".join(_shown(*one) for one in sums)
    return Talk([Turn(user, answer)], also={_key(x, sign, y) for x, sign, y, _ in sums}, drill=True)


def _pair(r: random.Random, most: int) -> tuple[int, int]:
    """Two different numbers, at times close to each other."""
    x = r.randrange(1, most)
    near = [n for n in range(x - 9, x + 10) if n != x and 0 < n < most]
    y = r.choice(near) if r.random() < 0.3 else r.choice([n for n in range(1, most) if n != x])
    return x, y


def _compared(x: int, y: int, larger: bool) -> str:
    """Which of the two it is, worked out as one compares two numbers: how many digits they have, then digit by digit."""
    one, other = str(x), str(y)
    steps = [(len(one), len(other)), *zip(map(int, one), map(int, other))]
    differs = next(i for i, (a, b) in enumerate(steps) if a != b)
    shown = ", ".join(_signed(*step) for step in steps[: differs + 1])
    return f"Digits: {shown}, so {max(x, y) if larger else min(x, y)} is {'larger' if larger else 'smaller'}."


def _signed(x: int, y: int) -> str:
    return f"{x} {'<' if x < y else '>' if x > y else '='} {y}"


_LARGER, _SMALLER = ["larger", "bigger", "greater"], ["smaller", "less"]


def _compared_key(x: int, y: int) -> str:
    return f"compare {min(x, y)} {max(x, y)}"


def compare(r: random.Random) -> Talk:
    x, y = _pair(r, r.choice([20, 100, 1000]))
    larger = r.random() < 0.5
    word = r.choice(_LARGER if larger else _SMALLER)
    answer = _compared(x, y, larger)
    ask = filled(r, f"[Which is {word}, {x} or {y}?|Which number is {word}: {x} or {y}?|Is {x} or {y} {word}?|What is {word}, {x} or {y}?]")
    return Talk([Turn(as_typed(r, ask, (str(x), str(y))), answer, (answer[answer.index("so ") :],))], key=_compared_key(x, y))


def _stretch(r: random.Random) -> tuple[int, int]:
    start = r.choice([1, 1, 1, r.randrange(1, 60)])
    return start, start + r.randrange(2, 20)


def counting(r: random.Random) -> Talk:
    start, end = _stretch(r)
    if r.random() < 0.45:
        numbers = range(end, start - 1, -1)
        user = filled(r, f"[Count|Please count] [down|backwards] from {end} to {start}.")
    else:
        numbers = range(start, end + 1)
        user = filled(r, f"[Count from {start} to {end}.|Write the numbers from {start} to {end}.|List the numbers {start} to {end}.]")
    answer = ", ".join(map(str, numbers))
    return Talk([Turn(as_typed(r, user), answer, (answer,))], key=f"count {start} {end}")


def neighbour(r: random.Random) -> Talk:
    n = r.randrange(1, 100)
    if r.random() < 0.5:
        user, value = filled(r, f"[What number comes|Which number comes|What comes] after {n}?"), n + 1
        answer = f"After {n} comes {value}."
    else:
        user, value = filled(r, f"[What number comes|Which number comes|What comes] before {n}?"), n - 1
        answer = f"Before {n} comes {value}."
    return Talk([Turn(as_typed(r, user), answer, (f"comes {value}.",))], key=f"neighbour {user}")


def order(r: random.Random) -> Talk:
    """Many questions at once about the order of numbers: which of two is larger, what comes next, counting up and down."""
    count, kind, keys = r.randrange(3, 16), r.random(), set()
    if kind < 0.5:
        larger, most = r.random() < 0.5, r.choice([10, 20, 100, 100, 1000])
        pairs = [_pair(r, most) for _ in range(2 * count)]
        user = filled(r, f"[Which is|Which number is|Say which is] [{'|'.join(_LARGER if larger else _SMALLER)}]: ")
        user += " " + ", ".join(f"{x} or {y}" for x, y in pairs) + "?"
        answers = [_compared(x, y, larger) for x, y in pairs]
        keys = {_compared_key(x, y) for x, y in pairs}
    elif kind < 0.65:
        word, step = r.choice([("after", 1), ("before", -1)])
        numbers = [r.randrange(1, 100) for _ in range(count)]
        user = f"What comes {word} each of these: " + ", ".join(map(str, numbers)) + "?"
        answers = [f"{word.capitalize()} {n} comes {n + step}." for n in numbers]
    else:
        stretches = [_stretch(r) for _ in range(count // 3 + 2)]
        keys = {f"count {start} {end}" for start, end in stretches}
        stretches = [(end, start) if r.random() < 0.5 else (start, end) for start, end in stretches]
        user = "Count: " + "; ".join(f"from {x} to {y}" if x < y else f"down from {x} to {y}" for x, y in stretches) + "."
        answers = [", ".join(map(str, range(x, y + 1) if x < y else range(x, y - 1, -1))) for x, y in stretches]
    return Talk([Turn(user, "\n".join(answers))], also=keys, drill=True)
