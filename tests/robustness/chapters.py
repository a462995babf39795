"""Files in an old and a new version, for runs that are killed."""

from pathlib import Path


def write_chapters(folder: Path, version: str) -> None:
    """Thirty files of one to five chunks, in folders; with each version some change, come or go."""
    for number in range(30):
        place = folder / f"part{number % 3}" / f"{number:02d}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        if version == "new" and number % 7 == 0:
            place.unlink(missing_ok=True)
            continue
        mark = version if number % 4 == 0 else "old"
        sections = [
            f"## Section {section}\n\n" + f"The {mark} chapter {number} says {section}. " * 30
            for section in range(number % 5 + 1)
        ]
        place.write_text(f"# Chapter {number}\n\n" + "\n\n".join(sections) + "\n", "utf-8")
    if version == "new":
        (folder / "part0" / "added.md").write_text("# Added\n\nA new chapter.\n", "utf-8")
