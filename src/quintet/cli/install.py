"""Setting agents up: where each keeps its MCP servers, and adding ours without losing anything of theirs."""

import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintet.errors import StoreError, UsageError

BACKUP = ".quintet-backup"


class Unsafe(Exception):  # noqa: N818  (never leaves this module)
    """Why a file cannot be edited without losing something."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a client starts the server."""

    command: str
    args: tuple[str, ...]

    @classmethod
    def for_user(cls, folder: Path) -> "Entry":
        """By absolute paths: it is not known from which folder the client starts it."""
        script = Path(sys.executable).with_name("quintet.exe" if sys.platform == "win32" else "quintet")
        found = str(script) if script.is_file() else shutil.which("quintet")
        command, first = (found, ()) if found else (sys.executable, ("-m", "quintet"))
        return cls(command, (*first, "mcp", "--db", str(folder), "--allow", str(folder.parent)))

    @classmethod
    def for_project(cls, client: "Client") -> "Entry":
        """By names that hold on every machine that has the project."""
        if client.workspace is None:  # started in the project's folder
            return cls("quintet", ("mcp",))
        return cls("quintet", ("mcp", "--db", f"{client.workspace}/.quintet", "--allow", client.workspace))


@dataclass(frozen=True, slots=True)
class Client:
    """An agent. `user` finds its own file, `project` is its file inside a project, if it has one.

    `section` is what holds its servers, `typed` says that an entry names its transport, and `workspace`
    is its name for the project's folder where it does not start servers there.
    """

    name: str
    title: str
    user: Callable[[Mapping[str, str]], Path]
    project: str | None = None
    section: str = "mcpServers"
    typed: bool = False
    workspace: str | None = None
    toml: bool = False

    def place(self, project: Path | None, environment: Mapping[str, str]) -> Path:
        if project is None:
            return self.user(environment)
        if self.project is None:
            raise UsageError(f"{self.title} has no file for a single project; leave --project out")
        return project / self.project

    def written(self, entry: Entry) -> dict[str, Any]:
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": entry.command, "args": list(entry.args)}


def _home(environment: Mapping[str, str]) -> Path:
    """Where clients look for it: on Windows, HOME may be set by a shell and mean nothing to them."""
    name = "USERPROFILE" if sys.platform == "win32" else "HOME"
    return Path(environment.get(name) or Path.home())


def _below_home(*parts: str) -> Callable[[Mapping[str, str]], Path]:
    return lambda environment: _home(environment).joinpath(*parts)


def _application(*parts: str) -> Callable[[Mapping[str, str]], Path]:
    """Where programs keep their data, which each system decides for itself."""

    def find(environment: Mapping[str, str]) -> Path:
        home = _home(environment)
        if sys.platform == "darwin":
            return home.joinpath("Library", "Application Support", *parts)
        if sys.platform == "win32":
            return Path(environment.get("APPDATA") or home / "AppData" / "Roaming").joinpath(*parts)
        return Path(environment.get("XDG_CONFIG_HOME") or home / ".config").joinpath(*parts)

    return find


def _codex(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("CODEX_HOME") or _home(environment) / ".codex") / "config.toml"


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client("claude-code", "Claude Code", _below_home(".claude.json"), ".mcp.json", typed=True),
        Client("claude-desktop", "Claude Desktop", _application("Claude", "claude_desktop_config.json")),
        Client("codex", "Codex", _codex, ".codex/config.toml", section="mcp_servers", toml=True),
        Client(
            "cursor",
            "Cursor",
            _below_home(".cursor", "mcp.json"),
            ".cursor/mcp.json",
            workspace="${workspaceFolder}",
        ),
        Client("gemini", "Gemini CLI", _below_home(".gemini", "settings.json"), ".gemini/settings.json"),
        Client(
            "vscode",
            "Visual Studio Code",
            _application("Code", "User", "mcp.json"),
            ".vscode/mcp.json",
            section="servers",
            typed=True,
            workspace="${workspaceFolder}",
        ),
        Client("windsurf", "Windsurf", _below_home(".codeium", "windsurf", "mcp_config.json")),
    )
}


def client_named(name: str) -> Client:
    if name not in CLIENTS:
        close = get_close_matches(name, CLIENTS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(CLIENTS)}"
        raise UsageError(f"there is no client {name!r}; {hint}")
    return CLIENTS[name]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it. `text` is for standard output; `installed` is False where the user must act."""

    text: str
    installed: bool
    remarks: list[str] = field(default_factory=list)


def install(client: Client, place: Path, name: str, entry: Entry, *, print_only: bool = False) -> Done:
    """Add the entry to the client's file, or print it where that is wished or cannot be done safely."""
    shown = _alone(client, name, entry)
    if print_only:
        return Done(shown, True, [f"for {place}"])
    try:
        before = _text(place)
        after = (_toml if client.toml else _json)(before, client, name, client.written(entry))
    except Unsafe as reason:
        return Done(shown, False, [f"{place} was left alone: {reason}; add the lines above by hand"])
    if after == before:
        return Done(f"{client.title} is set up already: {place}\n", True)
    _write(place, after, before)
    kept = [] if before is None else [f"the file as it was: {place.name}{BACKUP}"]
    return Done(f"{client.title} is set up: {place}\n", True, [*kept, f"restart {client.title} to use it"])


def _alone(client: Client, name: str, entry: Entry) -> str:
    edit = _toml if client.toml else _json
    return edit(None, client, name, client.written(entry))


def _text(place: Path) -> str | None:
    try:
        return place.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Unsafe("it is not UTF-8") from None
    except OSError as error:
        raise Unsafe(f"it cannot be read ({error.strerror})") from None


def _json(before: str | None, client: Client, name: str, written: dict[str, Any]) -> str:
    try:
        document = json.loads(before, object_pairs_hook=_unique) if before and before.strip() else {}
    except (ValueError, RecursionError):
        raise Unsafe("it holds comments, or is not plain JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get(client.section, {}), dict):
        raise Unsafe(f"its {client.section} is not an object")
    servers = document.get(client.section, {})
    if name in servers:
        return _same(before, servers[name] == written, name)
    document[client.section] = {**servers, name: written}
    text = json.dumps(document, ensure_ascii=False, indent=_indent(before or "")) + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Unsafe("it holds text that UTF-8 cannot say") from None
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("the same name twice")
    return dict(pairs)


def _indent(text: str) -> int | str:
    """As the file has it, else two spaces."""
    for line in text.splitlines():
        space = line[: len(line) - len(line.lstrip())]
        if space and line.strip():
            return space
    return 2


def _toml(before: str | None, client: Client, name: str, written: dict[str, Any]) -> str:
    """A table of its own at the end, so that every line above stays as it is."""
    try:
        document = tomllib.loads(before or "")
    except tomllib.TOMLDecodeError:
        raise Unsafe("it is not valid TOML") from None
    servers = document.get(client.section, {})
    if isinstance(servers, dict) and name in servers:
        return _same(before, servers[name] == written, name)
    lines = [f"[{client.section}.{_quoted(name)}]"]
    lines += [f"{key} = {_quoted(value)}" for key, value in written.items()]
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = (before or "") + gap + "\n".join(lines) + "\n"
    try:
        if tomllib.loads(after)[client.section] != {**servers, name: written}:
            raise Unsafe(f"its {client.section} cannot be added to at the end")
    except (tomllib.TOMLDecodeError, TypeError):
        raise Unsafe(f"its {client.section} cannot be added to at the end") from None
    return after


def _quoted(value: object) -> str:
    """As TOML writes it, which for text and lists of it is as JSON does, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _same(before: str | None, equal: bool, name: str) -> str:
    if not equal:
        raise Unsafe(f"it has another entry {name!r}; remove that first, or choose a name with --name")
    return before or ""


def _write(place: Path, text: str, before: str | None) -> None:
    """All of it or nothing; a link stays a link to the file it names."""
    target = place.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            shutil.copy2(target, target.with_name(target.name + BACKUP))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            if before is not None:
                shutil.copymode(target, temporary)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}; try --print") from error
