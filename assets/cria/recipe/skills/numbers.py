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
    """The sum with its result; where both digits of the second number count, the tens come first, as one does it in the head."""
    tens, units = y // 10 * 10, y % 10
    if sign in "+-" and tens and units:
        between = x + tens if sign == "+" else x - tens
        return f"{x} {sign} {y} = {between} {sign} {units} = {result}"
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


def arithmetic(r: random.Random) -> Talk:
    x, sign, y, result = _sum(r)
    shown = f"{x} {sign} {y}"
    if r.random() < 0.2:
        asked = f"{x} {r.choice(_WORDS[sign])} {y}"
    elif r.random() < 0.08:
        asked = f"{spelled(x) if x < 100 else x} {r.choice(_WORDS[sign])} {spelled(y) if y < 100 else y}"
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
    user += ", ".join(f"{x} {sign} {y}" for x, sign, y, _ in sums)
    answer = "\n".join(_shown(*one) for one in sums)
    return Talk([Turn(user, answer)], also={_key(x, sign, y) for x, sign, y, _ in sums}, drill=True)


def compare(r: random.Random) -> Talk:
    x, y = r.sample(range(1, r.choice([20, 100, 1000])), 2)
    larger = r.random() < 0.5
    word = r.choice(["larger", "bigger", "greater"] if larger else ["smaller", "less"])
    value = max(x, y) if larger else min(x, y)
    other = x + y - value
    ask = filled(r, f"[Which is {word}, {x} or {y}?|Which number is {word}: {x} or {y}?|Is {x} or {y} {word}?|What is {word}, {x} or {y}?]")
    verb = "larger" if larger else "smaller"
    answer = f"{value} is {verb} than {other}."
    return Talk([Turn(as_typed(r, ask, (str(x), str(y))), answer, right=lambda a: a.startswith(f"{value} "))], key=f"compare {x} {y}")


def counting(r: random.Random) -> Talk:
    start = r.choice([1, 1, 1, r.randrange(1, 60)])
    end = start + r.randrange(2, 20)
    if r.random() < 0.25:
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
