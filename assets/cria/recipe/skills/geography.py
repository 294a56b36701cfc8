"""Countries: capitals, continents, currencies, languages."""

import random

from common import Talk, Turn, as_typed, filled, table

COUNTRIES = table("countries")

ASKS = {
    "capital": (
        [
            "What is the capital of {c}?", "What's the capital of {c}?", "Which city is the capital of {c}?", "Name the capital of {c}.",
            "Tell me the capital of {c}.", "Do you know the capital of {c}?", "What is the capital city of {c}?", "The capital of {c}?",
            "What city is {c}'s capital?", "Which city is the seat of government of {c}?", "Can you name the capital of {c}?",
            "I forgot the capital of {c}. What is it?", "capital of {c}", "{c}: what is its capital?", "What is the name of {c}'s capital?",
            "Give me the capital of {c}.", "What would you call the capital of {c}?", "Quick question: what is the capital of {c}?",
        ],
        ["The capital of {c} is {v}."],
    ),
    "continent": (
        [
            "Which continent is {c} in?", "On which continent is {c}?", "Where is {c}?", "What continent does {c} belong to?",
            "Where in the world is {c}?", "In which part of the world is {c}?",
        ],
        ["It is in {v}."],
    ),
    "currency": (
        [
            "What is the currency of {c}?", "Which currency is used in {c}?", "What money do people use in {c}?",
            "What do people pay with in {c}?", "Which currency does {c} have?",
        ],
        ["The currency of {c} is the {v}."],
    ),
    "language": (
        [
            "What language is spoken in {c}?", "Which language do people speak in {c}?", "What is the main language of {c}?",
            "What do people speak in {c}?",
        ],
        ["The main language of {c} is {v}."],
    ),
}  # fmt: skip

_COLUMN = {"capital": 1, "continent": 2, "currency": 3, "language": 4}


def _named(country: str) -> str:
    return country[0].upper() + country[1:]


def _ask(r: random.Random, what: str) -> Talk:
    row = r.choice(COUNTRIES)
    country, value = row[0], row[_COLUMN[what]]
    asks, answers = ASKS[what]
    ask = r.choice(asks)
    answer = r.choice(answers).format(c=country, C=_named(country), v=value).replace("..", ".")
    user = as_typed(r, _named(ask.format(c=country)))
    return Talk([Turn(user, answer, (value,))], key=f"{what} {country} {ask}", fact=True)


def capital(r: random.Random) -> Talk:
    return _ask(r, "capital")


def country_fact(r: random.Random) -> Talk:
    return _ask(r, r.choice(["continent", "currency", "language"]))


def country_of(r: random.Random) -> Talk:
    country, city = r.choice(COUNTRIES)[:2]
    ask = r.choice(
        [
            "Which country has the capital {v}?", "{v} is the capital of which country?", "What country is {v} the capital of?",
            "In which country is {v}?", "Of which country is {v} the capital?", "Where is {v}?",
        ]
    )  # fmt: skip
    if ask == "Where is {v}?":
        answer = f"It is in {country}."
    else:
        answer = f"The country with the capital {city} is {country}."
    bare = country.removeprefix("the ")
    return Talk([Turn(as_typed(r, ask.format(v=city)), answer, (bare,))], key=f"of {city} {ask}", fact=True)


def several_capitals(r: random.Random) -> Talk:
    """A list or a table of capitals: the order of the question."""
    rows = r.sample(COUNTRIES, r.choice([2, 3, 3, 4, 5]))
    names = [row[0] for row in rows]
    listed = ", ".join(names[:-1]) + " and " + names[-1]
    if r.random() < 0.5:
        user = filled(r, f"[Make|Give me|Write] a table of the capitals of {listed}.")
        body = "\n".join(f"| {_named(row[0])} | {row[1]} |" for row in rows)
        answer = "| Country | Capital |\n|---|---|\n" + body
    else:
        user = filled(r, f"[What are|Name|List|Tell me] the capitals of {listed}.")
        answer = "\n".join(f"- {_named(row[0])}: {row[1]}" for row in rows)
    return Talk([Turn(as_typed(r, user), answer, tuple(row[1] for row in rows))], key=f"capitals {listed}")
