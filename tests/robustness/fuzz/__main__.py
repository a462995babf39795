"""Send strange input through the doors, and count crashes, answers of 500 and more, and tracebacks.

    python -m robustness.fuzz                    50,000 calls through each door, from the folder tests
    python -m robustness.fuzz --calls 1000 mcp   fewer through one of them
    python -m robustness.fuzz --seed 7:123 mcp   one call again, which was printed as bad

The seed of a call is printed with what went wrong.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from robustness.fuzz.doors import DOORS, make_index

SEED = 5


def fuzz(name: str, calls: range, seed: int) -> list[str]:
    """What went wrong, with the seed of each bad call."""
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="quintet-fuzz-") as folder:
        make_index(Path(folder))
        with DOORS[name](Path(folder)) as call:
            for number in calls:
                try:
                    wrong = call(random.Random(f"{seed}:{number}"))
                except Exception as error:  # a crash
                    wrong = repr(error)
                if wrong is not None:
                    bad.append(f"{seed}:{number} {wrong}")
    return bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("doors", nargs="*", choices=[[], *DOORS], help=", ".join(DOORS))
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--seed", default=str(SEED))
    given = parser.parse_args()
    seed, _, only = given.seed.partition(":")
    calls = range(int(only), int(only) + 1) if only else range(given.calls)
    failed = 0
    for name in given.doors or DOORS:
        bad = fuzz(name, calls, int(seed))
        print(f"{name}: {len(calls)} calls, {len(bad)} bad", flush=True)
        print("".join(f"{one}\n" for one in bad[:10]), end="", file=sys.stderr)
        failed += len(bad)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
