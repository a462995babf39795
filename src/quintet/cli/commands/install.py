"""`quintet install`: set an agent up to use the index."""

import os
from typing import Annotated

import typer

from quintet.cli.arguments import as_text
from quintet.cli.index_folder import current_folder, folder_to_fill
from quintet.cli.options import Db, MaybeText, argument, flag, option
from quintet.cli.terminal import tell, write
from quintet.errors import Conflict, UsageError


def install_command(
    client: Annotated[
        MaybeText, argument("CLIENT", "The agent; without it, all known ones are listed.")
    ] = None,
    project: Annotated[bool, flag("--project", "Write the project's configuration, not the user's.")] = False,
    print_only: Annotated[bool, flag("--print", "Print the configuration, write nothing.")] = False,
    name: Annotated[str, option("--name", "NAME", "The agent's name for this server.")] = "quintet",
    db: Db = None,
) -> int:
    """Set an agent up to use the index of this folder.

    Other entries of its configuration stay as they are. If the file cannot be edited without losing
    something, such as comments, the entry is printed instead and the exit code is 4.

    \b
    Example:
      quintet install claude-code --print
      quintet install cursor --project
    """
    from quintet.cli import mcp_clients

    if client is None:
        write("".join(f"{name:<16}{known.title}\n" for name, known in mcp_clients.CLIENTS.items()))
        return 0
    here = current_folder()
    agent = mcp_clients.client_named(as_text(client))
    if project and db is not None:
        raise UsageError(
            f"--db is {str(db)!r}; --project always uses the project's own .quintet: leave one of them out"
        )
    folder = folder_to_fill(db).absolute()
    command = (
        mcp_clients.ServerCommand.for_project(agent)
        if project
        else mcp_clients.ServerCommand.for_user(folder)
    )
    file = agent.file(here if project else None, os.environ)
    result = mcp_clients.install(agent, file, as_text(name), command, print_only=print_only)
    write(result.text)
    for remark in result.remarks:
        tell(remark)
    return 0 if result.installed else Conflict.exit_code


def register(app: typer.Typer) -> None:
    app.command("install", short_help="Set an agent up to use the index.")(install_command)
