"""The documentation is run: code blocks, settings, links, tables, and what must be mentioned."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from embed.folders import random_model
from formats.papers import lines, paper
from quintet.cli.main import app
from quintet.cli.reference import reference
from quintet.contracts import CONTRACTS
from quintet.model.filters import Filter
from quintet.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "docs" / "sample"
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if SAMPLE not in page.parents),
    *sorted((ROOT / "bench" / "results").glob("*.md")),
]
FENCE = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
RUN = ("python", "sh", "console")
SHOWN = ("text", "toml")
MODIFIED = 1_700_000_000  # seconds; what the pages show as 2023-11-14T22:13:20Z
PATIENCE = 120


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 2, match[2], match[3])
        for match in FENCE.finditer(text)
    ]


def names(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


def with_blocks(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample project, as the current folder, with times that never change."""
    folder = tmp_path / "larder"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".quintet"))
    for file in folder.rglob("*"):
        os.utime(file, (MODIFIED, MODIFIED))
    for name in [name for name in os.environ if name.startswith("QUINTET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "own-models"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


def print_papers(folder: Path) -> None:
    """The PDFs that the pages about knowledge bases use."""
    leave = [lines("Holidays are thirty days a year."), lines("Parental leave is fourteen weeks.")]
    travel = [lines("Trains are booked second class, by the traveller.")]
    folder.mkdir()
    (folder / "leave.pdf").write_bytes(paper(*leave, title="Leave"))
    (folder / "travel.pdf").write_bytes(paper(*travel, title="Travel"))


def shell(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-eu"],
        input=command,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def run_sh(block: Block, folder: Path) -> None:
    done = shell(block.text, folder)
    assert done.returncode == 0, f"{block.place}: {done.stderr or done.stdout}"


def run_console(block: Block, folder: Path) -> None:
    """Commands behind `$ `, each followed by what it prints; `...` stands for anything."""
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = entry.partition("\n")
        done = shell(command, folder)
        assert done.returncode == 0, f"{block.place}: {command}: {done.stderr or done.stdout}"
        pattern = ".*?".join(re.escape(part) for part in expected.rstrip().split("..."))
        assert re.fullmatch(pattern, done.stdout.rstrip(), re.DOTALL), (
            f"{block.place}: {command} printed\n{done.stdout}"
        )


def run_python(block: Block, namespace: dict[str, object]) -> None:
    code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
    exec(code, namespace)


@pytest.mark.parametrize("page", with_blocks(*RUN), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs_in_order(page: Path, project: Path) -> None:
    namespace: dict[str, object] = {"__name__": "page"}
    if page.name.startswith("knowledge-"):
        print_papers(project / "papers")
    if page.name == "embedders.md":
        random_model().write(project.parent / "models" / "my-model")
    for block in blocks(page):
        match block.language:
            case "python":
                run_python(block, namespace)
            case "sh":
                run_sh(block, project)
            case "console":
                run_console(block, project)


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_on_a_page_checks_something(page: Path) -> None:
    code = "\n".join(block.text for block in blocks(page) if block.language == "python")
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("page", with_blocks("toml"), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_settings_on_a_page_can_be_loaded(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml":
            (tmp_path / "quintet.toml").write_text(block.text, "utf-8")
            settings = load_settings(tmp_path, {})
            assert settings != Settings(), f"{block.place} sets nothing"
            for contract, table in settings.contracts.items():
                known = {parameter.name for parameter in fields(CONTRACTS[contract].parameters)}
                assert set(table) <= known, block.place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "```" not in re.sub(r"`[^`]+`", "", FENCE.sub("", text))
    assert {block.language for block in blocks(page)} <= {*RUN, *SHOWN}


def anchors(page: Path) -> set[str]:
    """The names GitHub gives to headings."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), f"{page.name}: {target}"
        assert place.is_relative_to(ROOT), f"{page.name}: {target} leads out of the project"
        if anchor:
            assert anchor in anchors(place), f"{page.name}: {target}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        text = FENCE.sub("", page.read_text("utf-8"))
        links = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
        todo += [(page.parent / link).resolve() for link in links if link]
    assert names([page for page in PAGES if page not in seen]) == []


def section(page: Path, heading: str) -> str:
    text = FENCE.sub("", page.read_text("utf-8"))
    return re.split(r"^## ", text.partition(f"## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def table(text: str) -> Iterator[list[str]]:
    """The cells of the rows of the first table in `text`."""
    lines = dropwhile(lambda line: not line.startswith("|"), text.splitlines())
    rows = list(takewhile(lambda line: line.startswith("|"), lines))
    for row in rows[2:]:
        yield [cell.strip() for cell in row.strip("|").split("|")]


def shown(default: object) -> str:
    if default is None:
        return "null"
    if isinstance(default, Filter) or default == ():
        return "{}"
    return f"{default:g}" if isinstance(default, float) else str(default)


def declared(parameter: "Field[object]") -> tuple[str, str]:
    return parameter.name, shown(parameter.default)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_parameters_of_a_contract_are_those_of_its_page(contract: str) -> None:
    page = ROOT / "docs" / "contracts" / f"{contract}.md"
    rows = table(section(page, "Parameters"))
    documented = [(name.strip("`"), default.strip("`")) for name, default, *_ in rows]
    assert documented == [declared(parameter) for parameter in fields(CONTRACTS[contract].parameters)]


@pytest.mark.parametrize("heading", ["Parameters", "Result", "Degraded", "Planned"])
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_page_tells_all_there_is_to_know(contract: str, heading: str) -> None:
    text = (ROOT / "docs" / "contracts" / f"{contract}.md").read_text("utf-8")
    assert f"\n## {heading}\n" in text


def test_the_settings_page_lists_every_setting_with_its_default() -> None:
    documented = {
        name.strip("`"): default.strip("`")
        for name, default, *_ in table((ROOT / "docs" / "settings.md").read_text("utf-8"))
    }
    defaults = {setting.name: getattr(Settings(), setting.name) for setting in fields(Settings)}
    expected = {
        name: str(list(value) if isinstance(value, tuple) else value) for name, value in defaults.items()
    }
    assert documented == expected


def options(group: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every command of the command line with each of its long options."""
    for name, command in group.commands.items():
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("--"):
                    yield f"{path} {name}", option
        if hasattr(command, "commands"):
            yield from options(command, f"{path} {name}")


def test_the_reference_of_the_command_line_is_what_the_commands_say() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert page == reference(), "run 'make docs'"


def test_the_reference_of_the_command_line_lists_every_command_and_option() -> None:
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    sections = dict(re.findall(r"^##+ (.+)\n((?:(?!##).*\n)*)", text, re.MULTILINE))
    expected = list(options(typer.main.get_command(app), "quintet"))
    assert ("quintet kb add", "--meta") in expected
    missing = [f"{name} {option}" for name, option in expected if f"`{option}" not in sections[name]]
    assert missing == []


def defined_tests(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("page", ["docs/contracts/readings.md", "SECURITY.md"])
def test_readings_and_promises_name_tests_that_exist(page: str) -> None:
    missing = []
    for line in (ROOT / page).read_text("utf-8").splitlines():
        if not line.startswith("|") or set(line) <= set("|-") or line.startswith(("| reading", "| promise")):
            continue
        held = line.rstrip("|").rpartition("|")[2].strip()
        tests = [code for code in CODE.findall(held) if "::" in code]
        missing += [] if tests else [line]
        for test in tests:
            file, _, name = test.partition("::")
            path = ROOT / "tests" / file
            if not path.is_file() or name not in defined_tests(path):
                missing.append(test)
    assert missing == []


def test_the_architecture_page_names_every_part_of_the_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    package = ROOT / "src" / "quintet"
    parts = [part.name + ("/" if part.is_dir() else "") for part in package.iterdir()]
    missing = [name for name in parts if name[0] not in "_." and name != "py.typed" and name not in text]
    assert missing == []


# An option, argument or field of such a name is the product's own.
FORBIDDEN = re.compile(
    r"\.\./shared|(?<![-`\"])\b(session|helper|issue)s?\b(?!=)|\bstep \d|/home/|/tmp/|/work/", re.IGNORECASE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_speak_of_the_product_alone(page: Path) -> None:
    assert FORBIDDEN.findall(page.read_text("utf-8")) == []


DEMO = ROOT / "docs" / "demo.sh"


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def test_the_demo_asks_in_words_that_its_answer_does_not_hold() -> None:
    asked = re.search(r'^question="(.+)"$', DEMO.read_text("utf-8"), re.MULTILINE)
    assert asked is not None
    assert words(asked[1]) & words((ROOT / "docs" / "privacy.md").read_text("utf-8")) == set()


@pytest.mark.slow
def test_the_demo_runs_to_its_end() -> None:
    done = subprocess.run(["sh", str(DEMO)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "words in common: none" in done.stdout
    assert "privacy.md" in done.stdout


def planned(folder: Path, target: str) -> str:
    make = shutil.which("make")
    if make is None:
        pytest.skip("needs make")
    command = [make, "--dry-run", "--directory", str(folder), target]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_demo_installs_no_development_tools_and_tests_still_do(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "setup.py", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    assert " -e . " in planned(tmp_path, "demo")
    assert "[dev]" not in planned(tmp_path, "demo")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".runtime").touch()
    assert "pip install" not in planned(tmp_path, "demo")
    assert "-e '.[dev]'" in planned(tmp_path, "unit")
