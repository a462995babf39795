"""Kill processes that write, at random moments, and look at what they leave.

    python -m robustness.kills                    250 kills of each kind of work, from the folder tests
    python -m robustness.kills --rounds 20 watch  twenty of one kind

A kill is bad if something acknowledged is lost, a document is half, the next process cannot answer, or the
next run does not end as if nothing had happened.
"""

import argparse
import random
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

from robustness.kills.rounds import Work, kill_once, run
from robustness.kills.works import WORKS

SEED = 11


def kill_often(work: Work, rounds: int, seed: int = SEED) -> list[str]:
    """What went wrong, one text for each bad kill."""
    chance = random.Random(f"{seed} {work.name}")
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="quintet-kills-") as name:
        base = Path(name)
        work.prepare(base)
        whole = run(work, base, base / "whole")
        work.check(base, base / "whole", whole.acknowledged)
        for number in range(rounds):
            place = base / f"round{number}"
            try:
                killed = kill_once(work, base, place, whole, chance)
                work.check(base, place, killed.acknowledged)
            except Exception:  # anything at all is a bad kill
                bad.append(f"{work.name}, round {number}: {traceback.format_exc()}")
            shutil.rmtree(place, ignore_errors=True)
    return bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="*", choices=[[], *WORKS], help=", ".join(WORKS))
    parser.add_argument("--rounds", type=int, default=250)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    failed = 0
    for name in given.works or WORKS:
        bad = kill_often(WORKS[name], given.rounds, given.seed)
        print(f"{name}: {given.rounds} kills, {len(bad)} bad", flush=True)
        print("".join(bad[:3]), end="", file=sys.stderr)
        failed += len(bad)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
