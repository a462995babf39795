"""The agents that `quintet install` knows: where each keeps its MCP servers, and how to add one safely."""

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


class UnsafeEdit(Exception):  # noqa: N818  (never leaves this module)
    """The reason why a file cannot be edited without losing something."""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """The command with which a client starts the server."""

    command: str
    args: tuple[str, ...]

    @classmethod
    def for_user(cls, folder: Path) -> "ServerCommand":
        """Absolute paths, because the client may start it in any folder."""
        script = Path(sys.executable).with_name("quintet.exe" if sys.platform == "win32" else "quintet")
        program = str(script) if script.is_file() else shutil.which("quintet")
        command, first = (program, ()) if program else (sys.executable, ("-m", "quintet"))
        return cls(command, (*first, *_options(str(folder.parent), str(folder))))

    @classmethod
    def for_project(cls, client: "Client") -> "ServerCommand":
        """Names that are valid on every machine that has the project."""
        if client.workspace is None:  # started in the project's folder
            return cls("quintet", ("mcp",))
        return cls("quintet", _options(client.workspace, f"{client.workspace}/.quintet"))


def _options(folder: str, db: str) -> tuple[str, ...]:
    """The server works in `folder`, wherever the client starts it, and clients reach nothing else."""
    return "mcp", "--folder", folder, "--db", db, "--allow", folder


@dataclass(frozen=True, slots=True)
class Client:
    """An agent. `user` finds the user's configuration file; `project` is its file inside a project, if any.

    `section` holds its servers. `typed` means that an entry names its transport. `workspace` is the
    variable for the project's folder, for agents that do not start servers there.
    """

    name: str
    title: str
    user: Callable[[Mapping[str, str]], Path]
    project: str | None = None
    section: str = "mcpServers"
    typed: bool = False
    workspace: str | None = None
    toml: bool = False

    def file(self, project: Path | None, environment: Mapping[str, str]) -> Path:
        if project is None:
            return self.user(environment)
        if self.project is None:
            raise UsageError(f"{self.title} has no file for a single project; leave --project out")
        return project / self.project

    def entry(self, command: ServerCommand) -> dict[str, Any]:
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": command.command, "args": list(command.args)}


def _home(environment: Mapping[str, str]) -> Path:
    """The home folder as clients see it: on Windows a shell may set HOME, which they ignore."""
    name = "USERPROFILE" if sys.platform == "win32" else "HOME"
    return Path(environment.get(name) or Path.home())


def _below_home(*parts: str) -> Callable[[Mapping[str, str]], Path]:
    return lambda environment: _home(environment).joinpath(*parts)


def _application(*parts: str) -> Callable[[Mapping[str, str]], Path]:
    """The folder where programs keep their data on this operating system."""

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
class InstallResult:
    """`text` goes to standard output; `installed` is False if the user must edit the file by hand."""

    text: str
    installed: bool
    remarks: list[str] = field(default_factory=list)


def install(
    client: Client, file: Path, name: str, command: ServerCommand, *, print_only: bool = False
) -> InstallResult:
    """Add the server to the client's file, or only print the entry if that is asked for or safer."""
    edit, entry = _toml if client.toml else _json, client.entry(command)
    printed = edit(None, client, name, entry)
    if print_only:
        return InstallResult(printed, True, [f"for {file}"])
    try:
        before = _text(file)
        after = edit(before, client, name, entry)
    except UnsafeEdit as reason:
        remark = f"{file} was not changed: {reason}; add the lines above by hand"
        return InstallResult(printed, False, [remark])
    if after == before:
        return InstallResult(f"{client.title} is set up already: {file}\n", True)
    _write(file, after, before)
    backup = [] if before is None else [f"backup of the old file: {file.name}{BACKUP}"]
    remarks = [*backup, f"restart {client.title} to use it"]
    return InstallResult(f"{client.title} is set up: {file}\n", True, remarks)


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UnsafeEdit("it is not UTF-8") from None
    except OSError as error:
        raise UnsafeEdit(f"it cannot be read ({error.strerror})") from None


def _json(before: str | None, client: Client, name: str, entry: dict[str, Any]) -> str:
    try:
        document = json.loads(before, object_pairs_hook=_unique) if before and before.strip() else {}
    except (ValueError, RecursionError):
        raise UnsafeEdit("it holds comments, or is not plain JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get(client.section, {}), dict):
        raise UnsafeEdit(f"its {client.section} is not an object")
    servers = document.get(client.section, {})
    if name in servers:
        return _same(before, servers[name] == entry, name)
    document[client.section] = {**servers, name: entry}
    text = json.dumps(document, ensure_ascii=False, indent=_indent(before or "")) + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UnsafeEdit("it holds text that UTF-8 cannot encode") from None
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("the same name twice")
    return dict(pairs)


def _indent(text: str) -> int | str:
    """The file's own indentation, or two spaces."""
    for line in text.splitlines():
        space = line[: len(line) - len(line.lstrip())]
        if space and line.strip():
            return space
    return 2


def _toml(before: str | None, client: Client, name: str, entry: dict[str, Any]) -> str:
    """Append a table at the end, so that every line above stays as it is."""
    try:
        document = tomllib.loads(before or "")
    except tomllib.TOMLDecodeError:
        raise UnsafeEdit("it is not valid TOML") from None
    servers = document.get(client.section, {})
    if isinstance(servers, dict) and name in servers:
        return _same(before, servers[name] == entry, name)
    lines = [f"[{client.section}.{_quoted(name)}]"]
    lines += [f"{key} = {_quoted(value)}" for key, value in entry.items()]
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = (before or "") + gap + "\n".join(lines) + "\n"
    try:
        if tomllib.loads(after)[client.section] != {**servers, name: entry}:
            raise UnsafeEdit(f"its {client.section} cannot be extended at the end of the file")
    except (tomllib.TOMLDecodeError, TypeError):
        raise UnsafeEdit(f"its {client.section} cannot be extended at the end of the file") from None
    return after


def _quoted(value: object) -> str:
    """Text and lists are written in TOML like in JSON, except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _same(before: str | None, equal: bool, name: str) -> str:
    if not equal:
        raise UnsafeEdit(
            f"it already has a different entry {name!r}; remove that first, or choose a name with --name"
        )
    return before or ""


def _write(file: Path, text: str, before: str | None) -> None:
    """Write the whole text or nothing; a symbolic link stays a link."""
    target = file.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            shutil.copy2(target, target.with_name(target.name + BACKUP))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            if before is not None:
                shutil.copymode(target, temporary)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}; try --print") from error
