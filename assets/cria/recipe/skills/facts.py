"""Small things that people ask a small model: opposites, plurals, days, months, kinds of things, colours, sounds, short programs."""

import random

from common import Talk, Turn, a, as_typed, filled, table

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()


def opposite(r: random.Random) -> Talk:
    one, two = r.sample(r.choice(table("opposites")), 2)
    ask = r.choice(["What is the opposite of {w}?", "What's the opposite of {w}?", "Opposite of {w}?", "Give me the opposite of {w}.", "Which word is the opposite of {w}?"])
    return Talk([Turn(as_typed(r, ask.format(w=one)), f"The opposite of {one} is {two}.", (two,))], key=f"opposite {one} {ask}", fact=True)


def calendar(r: random.Random) -> Talk:
    kind, names = r.choice([("day", DAYS), ("month", MONTHS)])
    i = r.randrange(len(names))
    after = r.random() < 0.6
    other = names[(i + (1 if after else -1)) % len(names)]
    word = "after" if after else "before"
    ask = r.choice([f"Which {kind} comes {word} {names[i]}?", f"What {kind} is {word} {names[i]}?", f"What comes {word} {names[i]}?", f"Tell me the {kind} {word} {names[i]}."])
    return Talk([Turn(as_typed(r, ask), f"{word.capitalize()} {names[i]} comes {other}.", (other,))], key=f"calendar {ask}", fact=True)


def known(r: random.Random) -> Talk:
    """Facts with two or more ways to ask each."""
    row = r.choice(table("known"))
    answer, need, asks = row[0], row[1], row[2:]
    ask = r.choice(asks)
    return Talk([Turn(as_typed(r, ask), answer, (need,))], key=f"known {ask} {r.randrange(8)}", fact=True)


# Of these no single one is spoken of: a dog, but gold.
_WITHOUT_ARTICLE = {"colours", "planets", "continents", "seasons", "rivers", "metals", "sports", "drinks"}
# Kinds of which one has something of the other, or of its name: gold is a colour, Mercury a metal.
_ALIKE = [{"colours", "metals", "flowers", "fruits", "trees", "vegetables"}, {"metals", "planets"}]


def kinds(r: random.Random) -> Talk:
    """One or several things of a kind."""
    kind, single, *members = r.choice(table("kinds"))
    if r.random() < 0.3:
        ask = filled(r, f"[Name|Tell me|Give me] [{a(single)}|one {single}].")
        return Talk([Turn(as_typed(r, ask), f"{members[0]}.", right=lambda got: got.strip(" .") in members)], key=f"one {kind} {ask}")
    count = r.randrange(2, min(7, len(members) + 1))
    words = "one two three four five six seven".split()
    number = str(count) if r.random() < 0.4 else words[count - 1]
    chosen = members[:count]
    ask = filled(r, f"[Name|List|Give me|Tell me|Write down] {number} {kind}.")
    # The number comes first: where to end is read from what was said, not from how the question put it.
    answer = "\n".join([f"{count} {kind}:", *(f"{i}. {member}" for i, member in enumerate(chosen, 1))])
    right = lambda got: len(got.strip().splitlines()) == count + 1 and all(m.lower() in got.lower() for m in chosen)
    return Talk([Turn(as_typed(r, ask), answer, right=right)], key=f"kinds {kind} {count} {ask}")


def of_a_kind(r: random.Random) -> Talk:
    """What kind of thing something is, also for those who ask whether it is of this or that kind: a small network finds the one, but to
    hold two against each other and say yes or no it hardly learns."""
    rows = {row[0]: row for row in table("kinds")}
    kind, _, *members = r.choice(list(rows.values()))
    alike = {other for group in _ALIKE if kind in group for other in group}
    asked = kind if r.random() < 0.5 else r.choice([other for other in rows if other not in alike])
    member = r.choice([m for m in members if asked == kind or m not in rows[asked]])
    named = member if kind in _WITHOUT_ARTICLE else a(member)
    ask = filled(r, f"[Is {named} {a(rows[asked][1])}?|Is {named} one of the {asked}?|What kind of thing is {named}?]")
    answer = f"{named[0].upper()}{named[1:]} is one of the {kind}."
    return Talk([Turn(as_typed(r, ask), answer, (f"is one of the {kind}.",))], key=f"is {member} {ask}")


def program(r: random.Random) -> Talk:
    """A short program from the few that it knows."""
    language, fence, task, code = r.choice(table("programs"))
    ask = filled(r, f"[Write|Show me|Give me] [a {language} program that|{language} code that|some {language} that] {task}.")
    if r.random() < 0.4:
        verb = task.replace("prints", "print", 1).replace("counts", "count", 1).replace("adds", "add", 1).replace("reads", "read", 1)
        ask = filled(r, f"[How do I {verb} in {language}?|{verb.capitalize()} in {language}.]")
    answer = f"```{fence}\n" + code.encode().decode("unicode_escape").replace("\t", "    ") + "\n```"
    return Talk([Turn(as_typed(r, ask, (language,)), answer, (answer,))], key=f"program {ask}")
