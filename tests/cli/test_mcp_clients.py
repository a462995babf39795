"""`quintet install`: our entry comes in, everything else stays, nothing is written unasked."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quintet.cli import mcp_clients
from quintet.cli.main import run
from quintet.cli.mcp_clients import BACKUP, CLIENTS

Install = Callable[..., int]

PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "vscode": ".vscode/mcp.json",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("APPDATA", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


def loaded(place: Path) -> dict[str, Any]:
    text = place.read_text("utf-8")
    found: dict[str, Any] = tomllib.loads(text) if place.suffix == ".toml" else json.loads(text)
    return found


def place_of(name: str, home: Path) -> Path:
    return CLIENTS[name].file(None, {"HOME": str(home)})


def all_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_without_a_file_gets_one_with_our_entry(home: Path, name: str) -> None:
    assert run(["install", name]) == 0
    client = CLIENTS[name]
    entry = loaded(place_of(name, home))[client.section]["quintet"]
    index = Path.cwd() / ".quintet"
    here = str(index.parent)
    assert entry["args"][-7:] == ["mcp", "--folder", here, "--db", str(index), "--allow", here]
    assert Path(entry["command"]).is_absolute()
    assert entry.get("type") == ("stdio" if client.typed else None)
    assert all_files(Path.cwd()) == set()


@pytest.mark.parametrize("name", PROJECT_FILES)
def test_a_project_file_names_nothing_of_this_machine(home: Path, name: str) -> None:
    assert run(["install", name, "--project"]) == 0
    text = (Path.cwd() / PROJECT_FILES[name]).read_text("utf-8")
    assert str(Path.cwd()) not in text
    assert str(home) not in text
    assert loaded(Path.cwd() / PROJECT_FILES[name])[CLIENTS[name].section]["quintet"]["command"] == "quintet"
    assert all_files(home) == set()


def test_a_project_has_its_own_index_and_no_other(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "cursor", "--project", "--db", "elsewhere"]) == 2
    assert "the project's own .quintet" in capsys.readouterr().err
    assert all_files(Path.cwd()) == set()


@pytest.mark.parametrize("name", sorted(set(CLIENTS) - set(PROJECT_FILES)))
def test_a_client_without_project_files_says_so(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", name, "--project"]) == 2
    assert "has no file for a single project" in capsys.readouterr().err


@pytest.mark.parametrize("name", CLIENTS)
def test_installing_again_changes_nothing(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["install", name])
    before = place_of(name, home).read_bytes()
    assert run(["install", name]) == 0
    assert "set up already" in capsys.readouterr().out
    assert place_of(name, home).read_bytes() == before
    assert not place_of(name, home).with_name(place_of(name, home).name + BACKUP).exists()


@pytest.mark.parametrize("name", CLIENTS)
def test_printing_writes_nothing(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", name, "--print"]) == 0
    printed = capsys.readouterr().out
    found = tomllib.loads(printed) if CLIENTS[name].toml else json.loads(printed)
    assert set(found[CLIENTS[name].section]) == {"quintet"}
    assert all_files(home) == set()


def test_other_entries_and_settings_stay_and_the_old_file_is_kept(home: Path) -> None:
    place = home / ".claude.json"
    before = {"theme": "dark", "mcpServers": {"other": {"command": "ô", "args": []}}, "n": 1.5, "z": [1, 2]}
    place.write_text(json.dumps(before, indent=4, ensure_ascii=False), "utf-8")
    place.chmod(0o600)
    assert run(["install", "claude-code"]) == 0
    after = loaded(place)
    assert list(after) == list(before)
    assert after["mcpServers"].pop("quintet")
    assert after == before
    assert '\n    "theme": "dark"' in place.read_text("utf-8")
    assert loaded(home / f".claude.json{BACKUP}") == before
    assert place.stat().st_mode & 0o777 == 0o600
    assert all_files(home) == {".claude.json", f".claude.json{BACKUP}"}


def test_every_line_of_a_toml_file_stays_with_its_comments(home: Path) -> None:
    place = home / ".codex" / "config.toml"
    place.parent.mkdir()
    before = '# mine\nmodel = "x"  # the best\n\n[mcp_servers.other]\ncommand = "o"'
    place.write_text(before, "utf-8")
    assert run(["install", "codex"]) == 0
    text = place.read_text("utf-8")
    assert text.startswith(before)
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other", "quintet"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{\n  // my servers\n  "mcpServers": {}\n}\n'),
        ("cursor", '{"mcpServers": {"a": {},}}'),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", '{"a": 1, "a": 2}'),
        ("cursor", '{"a": "\\ud800"}'),
        ("cursor", '{"mcpServers": {"quintet": {"command": "another"}}}'),
        ("cursor", "not json"),
        ("codex", "mcp_servers = { other = { command = 'o' } }\n"),
        ("codex", "mcp_servers = 3\n"),
        ("codex", "[broken\n"),
        ("codex", "[mcp_servers.quintet]\ncommand = 'another'\n"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone_and_the_entry_printed(
    home: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = place_of(name, home)
    place.parent.mkdir(parents=True)
    place.write_text(text, "utf-8")
    assert run(["install", name]) == 4
    out, err = capsys.readouterr()
    assert '"quintet"' in out
    assert "was not changed" in err
    assert place.read_text("utf-8") == text
    assert len(all_files(home)) == 1


def test_a_second_index_goes_by_a_name_of_its_own(home: Path) -> None:
    run(["install", "cursor"])
    assert run(["install", "cursor", "--db", "elsewhere/.quintet"]) == 4
    assert run(["install", "cursor", "--db", "elsewhere/.quintet", "--name", "notes"]) == 0
    assert set(loaded(home / ".cursor" / "mcp.json")["mcpServers"]) == {"quintet", "notes"}


def test_a_file_behind_a_link_is_changed_where_it_lies(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}", "utf-8")
    (home / ".claude.json").symlink_to(kept)
    assert run(["install", "claude-code"]) == 0
    assert (home / ".claude.json").is_symlink()
    assert "quintet" in loaded(kept)["mcpServers"]


def test_an_empty_file_counts_as_none(home: Path) -> None:
    (home / ".claude.json").write_text("\n", "utf-8")
    assert run(["install", "claude-code"]) == 0
    assert "quintet" in loaded(home / ".claude.json")["mcpServers"]


def test_a_write_that_fails_leaves_the_file_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home / ".claude.json"
    place.write_text('{"theme": "dark"}', "utf-8")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert run(["install", "claude-code"]) == 6
    assert place.read_text("utf-8") == '{"theme": "dark"}'
    assert all_files(home) == {".claude.json", f".claude.json{BACKUP}"}


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".config/Claude/claude_desktop_config.json"),
        ("darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_own_place(platform: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_clients.sys, "platform", platform)
    home = "USERPROFILE" if platform == "win32" else "HOME"
    found = CLIENTS["claude-desktop"].file(None, {home: "/somewhere"})
    assert found == Path("/somewhere") / place


def test_on_windows_the_home_is_where_clients_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_clients.sys, "platform", "win32")
    found = CLIENTS["claude-code"].file(None, {"HOME": "/of/a/shell", "USERPROFILE": "/somewhere"})
    assert found == Path("/somewhere/.claude.json")


def test_without_a_client_those_known_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CLIENTS)


def test_an_unknown_client_is_refused_with_a_hint(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "claude-cod"]) == 2
    assert "did you mean 'claude-code'?" in capsys.readouterr().err
