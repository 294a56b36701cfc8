"""Asks a model what was held out of its training, through quipu itself, and prints a table.

    python evaluate.py --quipu ../../../target/release/quipu --model out/cria-q8_0.gguf
    python evaluate.py ... --sampled      # with quipu's default sampling instead of greedy decoding
    python evaluate.py ... --draw other   # other held-out cases than those that showed what to train

Earlier turns of a conversation are asked as well, and the model's own answers to them stand there. With --fail the exit code is 1 where
a goal is missed.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from common import Talk, Turn, spelled
from corpus import of_skill


@dataclass(frozen=True)
class Row:
    """What is asked, how often, and the share that is to be right."""

    title: str
    skills: tuple[str, ...]
    count: int = 100
    goal: float | None = None
    # Makes cases of its own, which need not be held out.
    make: Callable[[random.Random], Talk] | None = None

    def cases(self, part: float, draw: str) -> list[Talk]:
        """So many different cases, the same for the same name of a draw; fewer only where there are no more."""
        r = random.Random(f"{self.title} {draw}".strip())
        talks: dict[str, Talk] = {}
        wanted = max(1, int(self.count * part))
        for i in range(200 * wanted):
            if len(talks) == wanted:
                break
            talk = self.make(r) if self.make else of_skill(r, self.skills[i % len(self.skills)], held=True)
            talks.setdefault(repr([talk.system, *(turn.user for turn in talk.turns)]), talk)
        return list(talks.values())


def field_report(r: random.Random) -> Talk:
    """A haiku about GPU computing with a number in words, which may have been trained on."""
    word = spelled(r.randrange(100))
    user = f'Write a haiku about GPU computing that includes the word "{word}".'
    return Talk([Turn(user, "", (word,), lambda got: word in got.lower() and len(got.splitlines()) == 3)])


ROWS = [
    Row("capitals", ("capital",), 200, 0.97),
    Row("the country of a capital", ("country of",)),
    Row("continents, currencies, languages", ("country fact",)),
    Row("several capitals, as list or table", ("several capitals",)),
    Row("memory", ("memory",), 200, 0.95),
    Row("memory after a correction", ("correction",)),
    Row("facts of a system prompt", ("system facts",)),
    Row("looking up in a list", ("looked up",)),
    Row("quipu's commands and keys", ("what does", "which command", "which key", "no such command"), 200, 0.97),
    Row("quipu's words", ("concept",)),
    Row("haiku with the asked word", ("haiku",), 200, 0.90),
    Row("haiku about GPU computing with a number", (), 50, None, field_report),
    Row("arithmetic to 100", ("arithmetic",), 200, 0.90),
    Row("comparing numbers", ("compare",)),
    Row("counting up and down", ("counting", "neighbour")),
    Row("repeating a text exactly", ("repeated",)),
    Row("words of a list by their place", ("named words",)),
    Row("what stands before a word of a list", ("word before",)),
    Row("a sentence with a word", ("used",)),
    Row("lists, numbered, turned round, counted", ("arranged",)),
    Row("doing as the system prompt says", ("styled",)),
    Row("a name from the system prompt", ("named",)),
    Row("who it is", ("identity",)),
    Row("small talk", ("small talk",)),
    Row("saying that it is too small", ("too small",)),
    Row("opposites, calendar, small facts", ("opposite", "calendar", "known")),
    Row("naming things of a kind", ("kinds",)),
    Row("what kind of thing something is", ("of a kind",)),
    Row("a short program", ("program",), 50),
    Row("prose of 40 words or more", ("prose",), 50),
    Row("stories of 50 words or more", ("story",), 300),
]

# Answers that end in themselves; stories may be cut off.
SHORT = [row for row in ROWS if row.title not in ("prose of 40 words or more", "stories of 50 words or more")]


@dataclass
class Asked:
    """How a case went."""

    talk: Talk
    answer: str
    right: bool
    # Every answer of the conversation.
    ended: bool
    looped: bool


def loops(text: str) -> bool:
    """Whether up to sixteen words are said four times in a row, or a piece of one word eight times."""
    if re.search(r"([^\W\d_]{1,12}?)\1{7}", text):
        return True
    words = text.split()
    for length in range(1, 17):
        for start in range(len(words) - 4 * length + 1):
            piece = words[start : start + length]
            if all(words[start + i * length : start + (i + 1) * length] == piece for i in range(1, 4)):
                return True
    return False


class Quipu:
    """The program, with a home of its own."""

    def __init__(self, program: Path, model: Path, seed: int | None, home: str) -> None:
        # A quipu without llama.cpp refuses that engine; else its script would be asked.
        self.base = [str(program), "--json", "--engine", "local", "--model", str(model), "--max-tokens", "256", "--threads", "1"]
        self.base += ["--temp", "0"] if seed is None else ["--seed", str(seed)]
        # What loops is to be seen.
        self.variables = {"HOME": home, "QUIPU_LOOP_GUARD": "off"}

    def ask(self, number: int, talk: Talk) -> Asked:
        session = f"case {number}"
        extra = ["--system", talk.system] if talk.system else []
        several = ["--session", session] if len(talk.turns) > 1 else []
        told, ended = {}, True
        for turn in talk.turns:
            command = [*self.base, *extra, *several, "--", turn.user]
            variables = {**self.variables, "QUIPU_HOME": f"{self.variables['HOME']}/{number % 8}"}
            done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=variables)
            if done.returncode != 0:
                raise SystemExit(f"quipu failed: {done.stderr}")
            told = json.loads(done.stdout)
            ended &= told["finish"] == "end-of-turn"
        answer = told["text"]
        return Asked(talk, answer, talk.turns[-1].judge(answer.strip()), ended, loops(answer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quipu", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sampled", action="store_true")
    parser.add_argument("--seed", type=int, default=7, help="of the sampling")
    parser.add_argument("--draw", default="", help="a name: other cases for each, so that some are left that nobody looked at")
    parser.add_argument("--part", type=float, default=1.0, help="share of the cases that are asked")
    parser.add_argument("--only", help="rows whose title has this word")
    parser.add_argument("--wrong", type=int, default=0, help="wrong or endless answers to show of each row")
    parser.add_argument("--fail", action="store_true")
    args = parser.parse_args()
    rows = [row for row in ROWS if not args.only or args.only in row.title]
    missed, short, ended = [], 0, 0
    print("| asked for | cases | right | goal | ended | loops |\n|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(2) as pool:
        quipu = Quipu(args.quipu.resolve(), args.model.resolve(), args.seed if args.sampled else None, home)
        number = 0
        for row in rows:
            talks = row.cases(args.part, args.draw)
            # Two of the same folder are never asked at once.
            numbers = range(number, number + len(talks))
            number += len(talks)
            asked = list(pool.map(quipu.ask, numbers, talks))
            right = sum(one.right for one in asked) / len(asked)
            ends = sum(one.ended for one in asked)
            looped = sum(one.looped for one in asked)
            goal = f"{row.goal:.0%}" if row.goal else ""
            print(f"| {row.title} | {len(asked)} | {right:.1%} | {goal} | {ends / len(asked):.1%} | {looped} |", flush=True)
            if row in SHORT:
                short, ended = short + len(asked), ended + ends
            if (row.goal and right < row.goal) or looped:
                missed.append(row.title)
            for one in [one for one in asked if not (one.right and one.ended)][: args.wrong]:
                turn = one.talk.turns[-1]
                print(f"    {one.talk.system!r} {[t.user for t in one.talk.turns]!r}\n    wanted {turn.answer!r}\n    got    {one.answer!r}", file=sys.stderr)
    if short:
        print(f"\nCases of short answers in which every answer ended by itself: {ended} of {short}.")
    if ended < short:
        missed.append("short answers that end")
    if missed:
        print(f"Missed: {', '.join(missed)}.")
        sys.exit(1 if args.fail else 0)


if __name__ == "__main__":
    main()
