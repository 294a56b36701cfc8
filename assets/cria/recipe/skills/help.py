"""quipu's commands, keys and words. What the commands and keys do is read from the tables in the README, which quipu's own
tests hold against the program, so that help never lies; only the questions are written here and in tables/."""

import random
import re
from functools import cache

from common import REPOSITORY, Talk, Turn, as_typed, filled, made_up, table


def _rows(part: str) -> list[list[str]]:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    body = text.split(f"<!-- {part} -->")[1].split(f"<!-- /{part} -->")[0]
    rows = [line.strip("|").replace("\\|", "¦").split("|") for line in body.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("¦", "|") for cell in row] for row in rows]


@cache
def commands() -> dict[str, tuple[str, str]]:
    """Name without what follows it, as typed with it, and what it does."""
    found = {}
    for usage, does in (row[:2] for row in _rows("commands")):
        usage = usage.strip("`")
        found[usage.split(" ")[0]] = (usage, does)
    return found


@cache
def keys() -> list[tuple[str, str]]:
    """Each key that means one thing everywhere, and what it does; keys of single panels are shown there."""
    rows = [(re.findall(r"`([^`]+)`", row[0]), row[1]) for row in _rows("keys")]
    means: dict[str, set[str]] = {}
    for names, does in rows:
        for name in names:
            means.setdefault(name, set()).add(does)
    wide = re.compile(r"(ctrl|alt)-|f1$|page")
    return [(name, does) for names, does in rows for name in names if wide.match(name) and len(means[name]) == 1]


@cache
def wishes() -> list[tuple[str, str]]:
    """What people want, and the command for it. A command that quipu does not have is a mistake in the table."""
    rows = [(row[0], row[1]) for row in table("wishes")]
    unknown = {name for name, _ in rows} - commands().keys()
    if unknown:
        raise SystemExit(f"tables/wishes.tsv names commands that quipu does not have: {', '.join(sorted(unknown))}")
    return rows


def _shown(key: str) -> str:
    return "-".join(part.capitalize() for part in key.split("-"))


def _first_clause(does: str) -> str:
    """A short form of what a command does, to ask by."""
    return re.split(r"[;:,]| from the next| in their place| which ", does)[0].strip()


def what_does(r: random.Random) -> Talk:
    name, (usage, does) = r.choice(list(commands().items()))
    ask = r.choice(
        [
            "What does {n} do?", "What is {n}?", "What is {n} for?", "Explain {n}.", "What does the command {n} do?", "{n}?",
            "What happens when I type {n}?", "When do I use {n}?", "Tell me about {n}.", "How do I use {n}?", "help {n}",
        ]
    )  # fmt: skip
    answer = f"`{usage}`: {does}."
    return Talk([Turn(as_typed(r, ask.format(n=name), (name,)), answer, (f"`{usage}`: {does}",))], key=f"does {name} {ask}")


def which_command(r: random.Random) -> Talk:
    if r.random() < 0.62:
        name, wish = r.choice(wishes())
    else:
        name, (_, does) = r.choice(list(commands().items()))
        wish = _first_clause(does)
    usage, does = commands()[name]
    ask = r.choice(
        [
            "How do I {w}?", "How can I {w}?", "Which command lets me {w}?", "I want to {w}.", "How do you {w} in quipu?",
            "Can I {w}?", "What do I type to {w}?", "Is there a command to {w}?", "What is the command to {w}?", "I would like to {w}.",
        ]
    )  # fmt: skip
    answer = f"Type `{usage}`: {does}."
    return Talk([Turn(as_typed(r, ask.format(w=wish), (wish,)), answer, (name,))], key=f"wish {wish} {ask}")


def which_key(r: random.Random) -> Talk:
    name, does = r.choice(keys())
    if r.random() < 0.6:
        ask = r.choice(["What does {k} do?", "What is {k} for?", "What happens when I press {k}?", "What does the key {k} do?", "{k}?"])
        user = ask.format(k=_shown(name) if r.random() < 0.6 else name)
        needs = (does,)
    else:
        ask = r.choice(["Which key do I press to {w}?", "Is there a key to {w}?", "What is the key to {w}?", "Which key lets me {w}?"])
        wish = _first_clause(does)
        # Several keys may do it: the first is named.
        name = next(key for key, other in keys() if _first_clause(other) == wish)
        does = dict(keys())[name]
        user, needs = ask.format(w=wish), (_shown(name),)
    answer = f"{_shown(name)}: {does}."
    return Talk([Turn(as_typed(r, user, (name, _shown(name))), answer, needs)], key=f"key {name} {ask}")


def no_such_command(r: random.Random) -> Talk:
    while (name := "/" + made_up(r)) in commands():
        pass
    user = filled(r, f"[What does {name} do?|What is {name}?|How do I use {name}?|Explain {name}.|{name}?]")
    # Without its name: in words that do not exist a small network stumbles, and nobody needs to read it again.
    answer = "There is no such command; `/help` shows all that there are."
    return Talk([Turn(as_typed(r, user, (name,)), answer, ("no such command",))], key=f"none {name}")


def concept(r: random.Random) -> Talk:
    name, meaning = r.choice(table("concepts"))
    ask = r.choice(["What is {n}?", "What does {n} mean?", "Explain {n}.", "Tell me what {n} is.", "What's {n}?", "Can you explain {n}?", "{n}?"])
    user = ask.format(n=name)
    return Talk([Turn(as_typed(r, user[0].upper() + user[1:]), meaning, (meaning[:24],))], key=f"concept {name} {ask}")
