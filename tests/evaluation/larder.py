"""A small project that can ask about itself: code with docstrings, pages with headings, commits, memories."""

from pathlib import Path

from indexing.repository import Repository

FILES = {
    "src/jars.py": '"""Everything there is to know about glass."""\n\n\n'
    'def seal(jar, lid):\n    """Close a jar so that nothing spoils. Twice is safe."""\n'
    "    return lid.turn(jar)\n\n\n"
    'def label(jar):\n    """Tell what was put\n    in and when."""\n    return jar.written()\n\n\n'
    'def again(jar):\n    """Do it once more, please."""\n    return jar\n\n\n'
    'def once_more(jar):\n    """Do it once more, please."""\n    return [jar]\n',
    "src/pot.js": "/** Heat the pot until the sugar melts. */\n"
    "function simmer(pot) {\n  return pot.flame(3)\n}\n",
    "docs/jam.md": "# Making jam\n\nFruit and sugar, boiled.\n\n"
    "## How long it keeps\n\nA year in the dark.\n\n### When it was opened\n\nThree weeks.\n\n"
    "## The right sugar\n\nThe right sugar is coarse.\n\n## Yield\n\nFour of them.\n",
    "docs/tea.md": "# Drying herbs\n\nHang bundles upside down, away from the sun.\n",
    "notes/plain.txt": "Nothing here is a heading.\n",
}


def write_project(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def write_repository(folder: Path) -> Repository:
    """The project with a history: one file, two files, a merge, six files, two words."""
    repository = Repository(folder, FILES)
    changes = {
        "Explain how herbs lose their water": {"docs/tea.md": "More sun is worse.\n"},
        "Let jars and pots be cleaned": {"src/jars.py": "# clean\n", "src/pot.js": "// clean\n"},
        "Touch every file there is here": dict.fromkeys([*FILES, "docs/new.md"], "\n"),
        "Tidy up": {"docs/tea.md": "\n"},
    }
    for subject, added in changes.items():
        for name, text in added.items():
            before = (folder / name).read_text("utf-8") if (folder / name).exists() else ""
            repository.write({name: before + text})
        repository.git("add", "--all")
        repository.git("commit", "--quiet", f"--message={subject}")
    repository.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    repository.git("commit", "--quiet", "--allow-empty", "--message=Nothing at all was done here")
    repository.git("checkout", "--quiet", "-")
    merge = "--message=Bring the other line of work in"
    repository.git("merge", "--quiet", "--no-ff", merge, "other")
    return repository
