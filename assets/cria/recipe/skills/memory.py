"""What was said earlier in the conversation, or stands in the system prompt, and has to be found again."""

import random

from common import ADJECTIVES, COLOURS, NAMES, NOUNS, Talk, Turn, any_word, as_typed, filled, made_up, table

COUNTRIES = table("countries")
_ANIMALS = "dog cat horse parrot rabbit hamster llama goat turtle goldfish pony donkey".split()
_PEOPLE = "sister brother mother father friend neighbour teacher boss aunt uncle cousin grandmother doctor daughter son wife husband".split()
_FOODS = "pizza soup rice bread pasta cheese salad curry apples noodles chocolate pancakes tomatoes mango potatoes fish cake".split()
_JOBS = "teacher nurse farmer baker pilot painter doctor carpenter gardener engineer writer singer driver lawyer cook sailor".split()
_HOBBIES = "chess swimming painting running cooking singing reading fishing cycling dancing gardening climbing knitting skating".split()


def _name(r: random.Random) -> str:
    return r.choice(NAMES) if r.random() < 0.75 else made_up(r).capitalize()


def _city(r: random.Random) -> str:
    return r.choice(COUNTRIES)[1]


def _thing(r: random.Random) -> str:
    return r.choice(NOUNS)


_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
# Values that are few: where one of them were never said, the network would learn that it is none. Of these, what is held out is one way
# to tell and to ask for one of them; of all others, the value.
_FEW = {*COLOURS, *_FOODS, *_JOBS, *_HOBBIES, *_DAYS}


# What can be told: (what is told, what is asked for it, what is answered, where the value comes from).
FACTS = [
    (["My name is {v}.", "I am {v}.", "I'm {v}.", "Call me {v}.", "Hi, I'm {v}.", "Hello, my name is {v}."],
     ["What is my name?", "What's my name?", "Who am I?", "Do you remember my name?", "How am I called?", "Say my name."],
     "Your name is {v}.", _name),
    (["My {x} is called {v}.", "I have a {x}. Its name is {v}.", "My {x}'s name is {v}.", "I have a {x} called {v}.", "I have a {x} named {v}."],
     ["What is my {x} called?", "What is the name of my {x}?", "What's my {x}'s name?", "How is my {x} called?"],
     "Your {x} is called {v}.", lambda r: (r.choice(_ANIMALS), _name(r))),
    (["My {x} is called {v}.", "My {x}'s name is {v}.", "The name of my {x} is {v}.", "I have a {x} named {v}."],
     ["What is my {x} called?", "What is the name of my {x}?", "What is my {x}'s name?", "Who is my {x}?"],
     "Your {x} is called {v}.", lambda r: (r.choice(_PEOPLE), _name(r))),
    (["I live in {v}.", "My home is in {v}.", "I am from {v}.", "I'm living in {v}."],
     ["Where do I live?", "Where am I from?", "Which city do I live in?", "Where is my home?"],
     "You live in {v}.", _city),
    (["My favourite colour is {v}.", "The colour I like best is {v}.", "My favorite color is {v}."],
     ["What is my favourite colour?", "Which colour do I like best?", "What's my favorite color?", "What colour do I like?"],
     "Your favourite colour is {v}.", lambda r: r.choice(COLOURS)),
    (["My favourite food is {v}.", "I love {v} more than any other food.", "I like to eat {v} best."],
     ["What is my favourite food?", "What do I like to eat?", "Which food do I like best?"],
     "Your favourite food is {v}.", lambda r: r.choice(_FOODS)),
    (["I am {v} years old.", "I'm {v} years old.", "My age is {v}.", "I turned {v} this year."],
     ["How old am I?", "What is my age?", "Do you know how old I am?"],
     "You are {v} years old.", lambda r: str(r.randrange(5, 99))),
    (["I work as a {v}.", "My job is {v}.", "I am a {v} by profession."],
     ["What is my job?", "What do I do for work?", "What do I work as?"],
     "You work as a {v}.", lambda r: r.choice(_JOBS)),
    (["My hobby is {v}.", "In my free time I like {v}.", "I enjoy {v}."],
     ["What is my hobby?", "What do I like to do in my free time?", "What do I enjoy?"],
     "Your hobby is {v}.", lambda r: r.choice(_HOBBIES)),
    (["My favourite number is {v}.", "My lucky number is {v}."],
     ["What is my favourite number?", "What is my lucky number?", "Which number do I like?"],
     "Your number is {v}.", lambda r: str(r.randrange(1, 1000))),
    (["The password is {v}.", "Remember the password: {v}.", "The secret password is {v}."],
     ["What is the password?", "What was the password?", "Tell me the password.", "Which password did I give you?"],
     "The password is {v}.", any_word),
    (["The code word is {v}.", "Remember this word: {v}.", "The word is {v}.", "Please remember the word {v}.", "Keep the word {v} in mind."],
     ["What is the word?", "Which word should you remember?", "What was the word?", "What word did I tell you?", "What is the code word?"],
     "The word is {v}.", any_word),
    (["The number is {v}.", "Remember the number {v}.", "Please remember this number: {v}.", "My code is {v}."],
     ["What is the number?", "Which number should you remember?", "What was the number?", "What number did I give you?"],
     "The number is {v}.", lambda r: str(r.randrange(1, 10 ** r.choice([2, 3, 4, 6])))),
    (["I bought a {v}.", "Today I bought a {v}.", "Yesterday I bought a {v}."],
     ["What did I buy?", "Which thing did I buy?", "What have I bought?"],
     "You bought a {v}.", _thing),
    (["The {x} is in the {v}.", "I put the {x} in the {v}.", "I left the {x} in the {v}."],
     ["Where is the {x}?", "Where did I leave the {x}?", "Where can I find the {x}?", "Where did I put the {x}?"],
     "The {x} is in the {v}.", lambda r: (_thing(r), _thing(r))),
    (["My {x} is {v}.", "The colour of my {x} is {v}.", "I have a {v} {x}."],
     ["What colour is my {x}?", "What is the colour of my {x}?", "Which colour does my {x} have?"],
     "Your {x} is {v}.", lambda r: (r.choice(["car", "bike", "house", "coat", "bag", "door", "boat", "hat", "chair", "shirt"]), r.choice(COLOURS))),
    (["The meeting is on {v}.", "My appointment is on {v}.", "We meet on {v}."],
     ["When is the meeting?", "On which day is it?", "Which day did I say?", "When is my appointment?"],
     "It is on {v}.", lambda r: r.choice(_DAYS)),
    (["My project is called {v}.", "I am writing a program called {v}.", "My company is called {v}.", "My team is called {v}."],
     ["What is it called?", "What is the name of it?", "How is it called?"],
     "It is called {v}.", lambda r: r.choice([any_word(r), _name(r)]).capitalize()),
]  # fmt: skip

_NOTED = [
    "I will remember that.", "Noted.", "Good to know.", "Thank you, I will remember.", "All right, I will keep that in mind.",
    "Nice, I will remember.",
]  # fmt: skip
_GREETED = ["Hello {v}! Nice to meet you.", "Hi {v}! How can I help?", "Nice to meet you, {v}."]


def _told(r: random.Random, fact: tuple) -> tuple[Turn, Turn, str]:
    """A turn that tells something, the one that asks for it, and the key of what was told."""
    tells, asks, answer, source = fact
    drawn = source(r)
    x, v = drawn if isinstance(drawn, tuple) else ("", drawn)
    tell, ask = r.choice(tells), r.choice(asks)
    greets = answer.startswith("Your name") and r.random() < 0.7
    reply = r.choice(_GREETED) if greets else r.choice(_NOTED)
    telling = Turn(as_typed(r, tell.format(x=x, v=v), (v,)), reply.format(v=v))
    asking = Turn(as_typed(r, ask.format(x=x)), answer.format(x=x, v=v), (v,))
    return telling, asking, f"memory {x} {v}" + (f" {tell} {ask}" if v in _FEW else "")


def recalled(r: random.Random, fillers: list[Turn]) -> Talk:
    """One to three facts, other talk between, then questions about them; the last one is judged."""
    facts = r.sample(FACTS, r.choice([1, 1, 2, 2, 3]))
    told = [_told(r, fact) for fact in facts]
    if len(told) > 1 and r.random() < 0.3:
        # Several in one message.
        words = " ".join(turn.user.rstrip(".") + "." for turn, _, _ in told)
        turns = [Turn(words, r.choice(_NOTED))]
    else:
        turns = [turn for turn, _, _ in told]
    for filler in fillers:
        turns.insert(r.randrange(1, len(turns) + 1), filler)
    asked = r.sample(told, r.randrange(1, len(told) + 1))
    turns += [ask for _, ask, _ in asked]
    return Talk(turns, key=asked[-1][2], also={key for _, _, key in told})


def corrected(r: random.Random, fillers: list[Turn]) -> Talk:
    """What was told is told anew; the last word counts."""
    fact = r.choice([fact for fact in FACTS if not fact[1][0].startswith("Where is the")])
    while True:
        (first, before, old), (second, ask, new) = _told(r, fact), _told(r, fact)
        # Another value of the same thing: the answers differ in nothing else.
        same_thing = before.answer.replace(before.needs[0], "") == ask.answer.replace(ask.needs[0], "")
        if before.needs != ask.needs and same_thing:
            break
    words = filled(r, "[No, wait: |Sorry, that was wrong. |I have changed my mind. |Correction: |That is not true any more. |Actually, ]")
    second = Turn(words + " " + second.user, filled(r, "[Thank you for telling me.|I will remember that.|All right, noted.]"))
    turns = [first, *fillers[:1], second, *fillers[1:], ask]
    return Talk(turns, key=new, also={old})


def from_system(r: random.Random, fillers: list[Turn]) -> Talk:
    """Facts in the system prompt, as shops and helpers have them."""
    owner = r.choice(["shop", "cafe", "library", "museum", "hotel", "school", "garden", "office", "bakery", "station"])
    name, hour, item, price = _name(r), r.randrange(6, 12), r.choice(NOUNS), r.randrange(2, 90)
    place, colour, guest = _city(r), r.choice(COLOURS), _name(r)
    facts = [
        (f"The {owner} is called {name}.", [f"What is the {owner} called?", f"What is the name of the {owner}?"], f"The {owner} is called {name}.", name),
        (f"The {owner} opens at {hour}.", [f"When does the {owner} open?", "When do you open?", "At what time do you open?"], f"The {owner} opens at {hour}.", str(hour)),
        (f"The {item} costs {price} euros.", [f"What does the {item} cost?", f"How much is the {item}?"], f"The {item} costs {price} euros.", str(price)),
        (f"The {owner} is in {place}.", [f"Where is the {owner}?", f"In which city is the {owner}?"], f"The {owner} is in {place}.", place),
        (f"The door is {colour}.", ["What colour is the door?", "Which colour does the door have?"], f"The door is {colour}.", colour),
        (f"The user is called {guest}.", ["What is my name?", "Who am I?", "Do you know my name?"], f"Your name is {guest}.", guest),
    ]  # fmt: skip
    chosen = r.sample(facts, r.choice([1, 2, 3, 4]))
    told, asks, answer, value = r.choice(chosen)
    system = filled(r, f"[You help the guests of a {owner}.|You work in a {owner}.|You are the assistant of a {owner}.|Use these facts.|]")
    system = " ".join([system, *(fact[0] for fact in chosen)]).strip()
    asking = Turn(as_typed(r, r.choice(asks)), answer, (value,))
    return Talk([*fillers, asking], key=f"system {value} {told}", system=system)


def looked_up(r: random.Random) -> Talk:
    """A list of names and values, and many questions about it."""
    count = r.randrange(3, 9)
    keys = r.sample(NAMES if r.random() < 0.5 else NOUNS, count)
    kind = r.random()
    values = [
        str(r.randrange(10, 1000)) if kind < 0.3 else r.choice(COLOURS) if kind < 0.5 else any_word(r) if kind < 0.9 else r.choice(ADJECTIVES)
        for _ in keys
    ]
    user = filled(r, "[Here is a list:|Remember these:|Read this:|These belong together:]") + "\n"
    user += "\n".join(f"- {k}: {v}" for k, v in zip(keys, values))
    turns = [Turn(user, filled(r, "[I have read it.|All right.|Noted.]"))]
    for i in r.sample(range(count), r.randrange(1, count + 1)):
        ask = filled(r, f"[What is with {keys[i]}?|What belongs to {keys[i]}?|What stands next to {keys[i]}?|{keys[i]}?]")
        turns.append(Turn(ask, f"{keys[i]}: {values[i]}.", (f": {values[i]}.",)))
    return Talk(turns, key=f"list {turns[-1].user} {turns[-1].answer}")
