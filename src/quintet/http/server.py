"""Runs the application on uvicorn until a signal ends it."""

import logging
import socket
from types import FrameType

import uvicorn

from quintet.errors import UsageError
from quintet.http.app import Application
from quintet.http.config import Config
from quintet.http.protocol import bounded_protocol
from quintet.serving.keys import Keys
from quintet.serving.listening import BACKLOG, announce, bind, log_to_stderr
from quintet.serving.shared_index import SharedIndex


class _Server(uvicorn.Server):
    """Does not raise the signal again when it ends, so that the index is closed in order."""

    application: Application

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.application.prepare_to_stop()
        await super().shutdown(sockets)


def serve(shared: SharedIndex, config: Config) -> None:
    """Serve until SIGINT or SIGTERM. Standard error says where it listens."""
    log_to_stderr(shared.index.settings)
    if config.access_log:
        logging.getLogger("quintet.http").setLevel(logging.INFO)
    check_keys(config, Keys(shared.index.folder))
    listener = bind(config.host, config.port)
    limits = config.limits
    application = Application(shared, config)
    server = _Server(
        uvicorn.Config(
            application.asgi,
            http=bounded_protocol(limits),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=limits.grace_seconds,
            backlog=BACKLOG,
        )
    )
    server.application = application
    announce(config.host, listener)
    server.run(sockets=[listener])


def check_keys(config: Config, keys: Keys) -> None:
    """Refuse to start a server that needs a key while there is none: nobody could use it."""
    if config.needs_key and not keys.all():
        reason = "--require-key" if config.is_loopback else f"{config.host} can be reached by others; that"
        raise UsageError(
            f"{reason} needs an API key, and there is none; make one with 'quintet keys add NAME --read'"
        )
