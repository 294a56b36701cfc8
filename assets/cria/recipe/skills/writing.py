"""Haiku with the word that was asked for, stories, and prose that goes on from what was begun."""

import random
import re

from common import ADJECTIVES, COLOURS, NOUNS, Talk, Turn, a, any_word, as_typed, filled, table

_OPENINGS = table("haiku_openings")
_MIDDLES = table("haiku_middles")
_CLOSINGS = table("haiku_closings")


def syllables(word: str) -> int:
    """A guess at the syllables: groups of vowels, without a silent e at the end."""
    word = word.lower()
    count = len(re.findall(r"[aeiouy]+", word))
    if word.endswith("e") and not word.endswith(("le", "ee", "ie")) and count > 1:
        count -= 1
    return max(count, 1)


def _line(r: random.Random, rows: list[list[str]], phrase: str, beats: int) -> str:
    """A line with the phrase in it that has so many syllables, or nearly."""
    left = beats - sum(syllables(word) for word in re.findall(r"[A-Za-z0-9]+", phrase))
    fitting = [row[1] for row in rows if int(row[0]) == left] or [row[1] for row in rows if int(row[0]) == (1 if left < 1 else 4)]
    return r.choice(fitting).format(w=phrase)


def _first(text: str) -> str:
    return text[0].upper() + text[1:]


_TOPICS = """GPU computing|machine learning|the open sea|winter nights|my old computer|the city lights|a long journey|open source
software bugs|the morning train|deep learning|the mountains|coffee breaks|the first snow|parallel computing|cloud storage|the night sky
neural networks|the terminal|data centres|a quiet library|the autumn wind|fast processors|matrix products|graphics cards|the harbour
video games|language models|low memory|hot summers|space travel|the village fair|rainy days|the last bus|hard disks|web pages""".replace("\n", "|").split("|")


def _topic(r: random.Random) -> str:
    kind = r.random()
    if kind < 0.35:
        return r.choice(NOUNS)
    if kind < 0.6:
        return r.choice(_TOPICS)
    if kind < 0.75:
        return f"{r.choice(ADJECTIVES)} {r.choice(NOUNS)}s"
    if kind < 0.9:
        return f"{r.choice(NOUNS)} {r.choice(NOUNS)}"
    return f"the {r.choice(NOUNS)}"


def haiku(r: random.Random) -> Talk:
    """Three lines of 5, 7 and 5 syllables, as near as counting vowels comes; the topic is in the first, an asked word in the second."""
    topic, closing = _topic(r), r.choice(_CLOSINGS)[0]
    if r.random() < 0.42:
        user = filled(r, f"[Write|Write me|Compose|Make|Give me] [a haiku|a short haiku|one haiku] [about|on] {topic}[.|, please.|]")
        if r.random() < 0.12:
            user = filled(r, f"[Haiku about {topic}|{topic} haiku|A haiku about {topic}, please.|I want a haiku about {topic}.]")
        opening, middle = _line(r, _OPENINGS, topic, 5), r.choice(_MIDDLES)[0]
        needs, kept = (topic,), (topic,)
    else:
        word = any_word(r)
        quote = r.choice(["{w}", '"{w}"', "'{w}'", '"{w}"']).format(w=word)
        user = filled(
            r,
            r.choice(
                [
                    f"[Write|Compose|Make] a haiku about {topic} [that includes|that contains|containing|including|with|using] the word {quote}.",
                    f"[Write|Compose|Make] a haiku about {topic} and use the word {quote}.",
                    f"[Write|Compose] a haiku about {topic}. [Use the word {quote}.|It must contain the word {quote}.|The word {quote} must be in it.|Include the word {quote}.|Include {quote}.]",
                    f"[Write|Compose|Make] a haiku [with|that contains|that uses] the word {quote}.",
                ]
            ),
        )
        topical = topic in user
        opening = _line(r, _OPENINGS, topic, 5) if topical else _line(r, _OPENINGS, word, 5)
        middle = _line(r, table("haiku_word_lines"), word, 7) if topical else r.choice(_MIDDLES)[0]
        needs, kept = (word,), (topic, word)
    answer = "\n".join(_first(line) for line in (opening, middle, closing))

    def right(got: str) -> bool:
        return len(got.strip().splitlines()) == 3 and all(need.lower() in got.lower() for need in needs)

    return Talk([Turn(as_typed(r, user, kept), answer, needs, right)], key=f"haiku {needs[0]}")


# Stories: who, where, what is wanted, what is in the way, who helps, how it ends.
_HEROES = "llama fox girl boy baker robot sailor queen mouse dragon shepherd clockmaker gardener owl knight wizard painter".split()
_PLACES = """a small village|a town by the sea|a house at the edge of the forest|a tower on a hill|the high mountains|a city of bridges
an old mill|a valley full of fog|an island far from everything|a quiet street|a castle without doors|a farm beside the river""".replace("\n", "|").split("|")
_WEATHER = ["One windy morning", "One rainy evening", "On the first day of spring", "One cold night", "On a hot afternoon", "One day", "Early one Sunday", "When the snow had melted"]
_HELPERS = "an old woman|a tired traveller|a talking crow|a shy goat|a kind giant|a little bird|a fisherman|a clever cat|a stranger in a green coat|a snail".split("|")
# What is in a text that nobody named anything for: one draws from few, lest the likeliest pieces make a word that is none.
_QUALITIES = "brave shy clever quiet curious stubborn gentle proud lonely cheerful patient wise".split()
_TREASURES = "lantern key map bell mirror feather song seed stone book ring boat compass coin kite clock whistle drum candle shell".split()
_FEARS = "a deep river|a locked gate|a thick wall of thorns|a storm|a hungry bear|a broken bridge|a dark cave|a guard who never slept".split("|")
_NAMED = "Anna Tom Maria Ben Lucy Jack Emma Paul Nora Max Clara Leo".split()
_FEELINGS = "happy proud calm surprised grateful glad relieved".split()


def _story(r: random.Random, hero: str, about: str) -> str:
    name = r.choice(_NAMED)
    place, helper, fear, feeling = r.choice(_PLACES), r.choice(_HELPERS), r.choice(_FEARS), r.choice(_FEELINGS)
    helper_again = re.sub(r"^(an?) ", "the ", helper)
    fear_again = re.sub(r"^(an?) ", "the ", fear)
    quality, colour = r.choice(_QUALITIES), r.choice(COLOURS)
    parts = [
        filled(r, f"[Once upon a time there was|There once was|Long ago, in {place}, there lived|Far away lived] {a(hero)} called {name}"),
        filled(r, f"[ who had never left {place}.| who lived alone in {place}.| and everybody in {place} knew that name.|, and {name} was very {quality}.]"),
        filled(r, f" {r.choice(_WEATHER)} [{name} found|{name} heard of|{name} dreamed of|somebody told {name} about] {a(about)}"),
        filled(r, f"[ that shone {colour} in the dark.| that nobody had seen for a hundred years.|, and {name} could think of nothing else.|, and that was how it all began.]"),
        filled(r, f" [\"I must know where it comes from,\" said {name}.|\"This is for me,\" thought {name}.|{name} packed some bread and set out at once.|So {name} put on a {colour} coat and left.]"),
        filled(r, f" [The way was long, and|After three days|Behind the last hill|Soon] {name} came to {fear}."),
        filled(r, f" [There sat {helper}.|Just then {helper} came along.|Beside it stood {helper}, waiting.]"),
        filled(r, f" [\"Why are you here?\" asked {helper_again}.|\"You look lost,\" said {helper_again}.|\"Nobody gets past {fear_again},\" said {helper_again}.]"),
        filled(r, f" [\"I am looking for the {about},\" said {name}.|{name} told the whole story.|\"I need help,\" said {name}, \"and I have only bread to give.\"]"),
        filled(r, f" [They shared the bread and thought about it.|They talked until the stars came out.|{_first(helper_again)} laughed and showed a hidden path.|Together they found a way around {fear_again}.]"),
        filled(r, f" [At the end of it lay the {about}.|And there, under a stone, was the {about}.|In the morning they saw the {about} in the grass.]"),
        filled(r, f" [\"Keep it,\" said {helper_again}, \"you have earned it.\"|{name} gave half of it to {helper_again}.|But {name} did not want it any more, for now there was a friend.]"),
        filled(r, f" [{name} went home {feeling} and slept for two days.|From that day on {name} was never alone.|And if you pass {place}, you can still hear them laugh.|{name} was {feeling}, and told the story to everyone who would listen.]"),
    ]
    if r.random() < 0.5:
        parts.pop(r.choice([4, 7, 8]))
    return "".join(parts)


def story(r: random.Random) -> Talk:
    hero = r.choice(_HEROES) if r.random() < 0.6 else r.choice(NOUNS)
    about = r.choice(_TREASURES)
    if r.random() < 0.75:
        user = filled(r, f"[Tell me|Write|Write me|Make up] [a story|a short story|a little story|a tale] [about|of] {a(hero)}")
        if r.random() < 0.35:
            about = r.choice(NOUNS)
            user += f" and {a(about)}"
        user += "."
    else:
        hero = r.choice(_HEROES)
        user = filled(r, "[Tell me a story.|Write a story.|I want to hear a story.|A bedtime story, please.|Once upon a time]")
    text = _story(r, hero, about)
    return Talk([Turn(as_typed(r, user, (hero, about)), text, right=lambda got: len(got.split()) >= 50)], key=f"story {hero} {about}")


_THINGS = "life|time|work|love|friendship|happiness|music|memory|language|learning|home|silence|courage|patience|the sea|light|sleep|play".split("|")


def _prose(r: random.Random, thing: str, rest: bool) -> str:
    """Sentences about one thing; `rest` begins in the middle of one."""
    (noun, other), name, quality = r.sample(_TREASURES, 2), r.choice(_NAMED), r.choice(_QUALITIES)
    first = filled(
        r,
        f"[a question that every person answers anew|something one finds along the way|not far away: it is in small things|older than any book about it|"
        f"what one makes of it, day after day|like {a(noun)}: one sees it best from a distance|to be found in what we do for others]",
    )
    opening = first if rest else f"What I know about {thing} is this: it is {first}"
    more = [
        f"Some look for it in {a(noun)}, others in a good meal with friends.",
        f"{name} used to say that it is like {a(other)}: it must be used, or it rusts.",
        "When I was asked about it, I had no answer, only more questions.",
        f"There is a {quality} side to it, and a bright one.",
        "Children know more about it than they can say.",
        f"One morning I saw {a(noun)} beside the road and thought: perhaps this is all.",
        "It does not need many words, but it needs time.",
        "Those who hurry past it will have to come back.",
        f"In old stories it is a {r.choice(_HEROES)} who finds it, by losing the way.",
        "It grows when it is shared, and it is never quite finished.",
        f"Nobody can carry it for you, not even {a(other)}.",
        "And in the evening, when it is quiet, one may hear it breathe.",
        "We learn it late, and most of it from mistakes.",
        "Perhaps it is enough to keep asking.",
    ]
    # Always in this order: where any sentence may follow any other, the likeliest of them come round again.
    chosen = sorted(r.sample(range(len(more) - 1), r.randrange(6, 10)))
    return " ".join([opening + ".", *(more[i] for i in chosen), more[-1]])


def prose(r: random.Random) -> Talk:
    thing = r.choice(_THINGS) if r.random() < 0.7 else r.choice(NOUNS)
    if r.random() < 0.5:
        begun = filled(r, f"[The meaning of {thing} is|The secret of {thing} is|What I know about {thing} is|The best thing about {thing} is|{_first(thing)} is]")
        answer = _prose(r, thing, rest=True)
        user = begun if r.random() < 0.7 else filled(r, f"[Continue|Go on|Complete|Finish this]: {begun}")
    else:
        user = filled(
            r,
            f"[[Write|Tell me] [something|a few words|a text|a paragraph] about {thing}.|What is the meaning of {thing}?|Think about {thing}.|"
            f"Tell me what {thing} is about.|Write about {thing}.]",
        )
        answer = _prose(r, thing, rest=False)
    return Talk([Turn(as_typed(r, user, (thing,)), answer, right=lambda got: len(got.split()) >= 40)], key=f"prose {user}")


def plain_text(r: random.Random) -> Talk:
    """A text without a conversation around it, for those who begin one themselves."""
    if r.random() < 0.5:
        thing = r.choice(_THINGS)
        begun = filled(r, f"[The meaning of {thing} is|The secret of {thing} is|{_first(thing)} is|What I know about {thing} is] ")
        return Talk([], plain=begun + " " + _prose(r, thing, rest=True))
    hero = r.choice(_HEROES)
    return Talk([], plain=_story(r, hero, r.choice(_TREASURES)))
