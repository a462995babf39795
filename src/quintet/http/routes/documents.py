"""The routes of documents: upload as JSON or files, list, change, remove, and download."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.errors import Conflict, LimitError, UsageError
from quintet.http.access import Access
from quintet.http.citations import SOURCE_FILE
from quintet.http.jobs import Deleted, Outcomes
from quintet.http.requests import check_fields, parse_count, query_parameters, read_texts
from quintet.http.responses import RequestError, limited_response
from quintet.http.routes.knowledge import BASE, base_of
from quintet.http.source_file import file_response, open_file
from quintet.http.state import Routes
from quintet.http.uploads import Received
from quintet.indexing.run import Progress
from quintet.knowledge import KnowledgeBase, Outcome, Upload
from quintet.knowledge.results import DocumentFields

ABOUT = ("title", "uri", "metadata")
FIELDS = ("text", "content", "id", "mime", *ABOUT)
MAX_LISTED = 1_000


class DocumentPage(TypedDict):
    """A page of documents. `next` is where the following page begins; null on the last."""

    documents: list[DocumentFields]
    next: str | None


class DocumentRoutes(Routes):
    for_bases = True

    def all(self) -> list[Route]:
        return [
            self.route(f"{BASE}/documents", GET=("read", self.list_documents), POST=("write", self.put)),
            self.route(
                f"{BASE}/documents/{{doc}}",
                GET=("read", self.get),
                PUT=("write", self.change),
                DELETE=("write", self.delete),
            ),
            self.route(SOURCE_FILE, GET=("read", self.source_file)),
        ]

    async def list_documents(self, request: Request, access: Access) -> Response:
        given = query_parameters(request, ["after", "limit"])
        limit = parse_count(given.get("limit", "100"), "limit", MAX_LISTED)
        documents = await self._state.workers.run(
            lambda: base_of(request, access).documents(given.get("after"), limit)
        )
        page = {"documents": documents, "next": documents[-1]["id"] if len(documents) == limit else None}
        return limited_response(page, self._state.limits.result_bytes)

    async def get(self, request: Request, access: Access) -> Response:
        document_id = request.path_params["doc"]
        document = await self._state.workers.run(lambda: base_of(request, access).get(document_id))
        return limited_response(document, self._state.limits.result_bytes)

    async def put(self, request: Request, access: Access) -> Response:
        """One document or several, as JSON; or files, as a form."""
        base = await self._state.workers.run(
            lambda: base_of(request, access)
        )  # an unknown base is refused before the upload
        self._state.jobs.check_key(access.key)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            return await self._put_files(request, base)
        if kind not in ("application/json", ""):
            message = "send application/json, or multipart/form-data for files"
            raise RequestError(415, "unsupported_media_type", f"the content type is {kind!r}; {message}")
        body = await read_texts(request, self._state.limits)
        several = _uploads(body, self._state.limits.documents) if "documents" in body else None
        uploads = [_upload(body, "a document")] if several is None else several
        if several is None:
            await self._state.workers.run(lambda: base.check(uploads[0]))

        def work(progress: Progress) -> Outcomes:
            if several is None:
                return _outcomes([base.put(**_checked(body, "a document"))])
            return _put_all(base, [several], len(several), progress)

        size = sum(len(upload.data) for upload in uploads)
        return await self._state.changes.make(request, base.slug, work, "upload", size=size)

    async def _put_files(self, request: Request, base: KnowledgeBase) -> Response:
        with ExitStack() as stack:
            spool = stack.enter_context(self._state.uploads.place(base.slug))
            received = await self._state.uploads.receive(request, spool)
            about = _about(received)

            def work(progress: Progress) -> Outcomes:
                described = ([replace(file, **about) for file in batch] for batch in received.contents())
                return _put_all(base, described, len(received.files), progress)

            size = sum(file.size for file in received.files)
            return await self._state.changes.make(
                request, base.slug, work, "upload", size=size, holding=stack.pop_all()
            )

    async def change(self, request: Request, access: Access) -> Response:
        """With a text, replace the document; without one, change its title, uri or metadata."""
        body = await read_texts(request, self._state.limits)
        check_fields(body, [name for name in FIELDS if name != "id"], "a document")
        document, has_text = request.path_params["doc"], "text" in body or "content" in body
        if not has_text:
            check_fields(body, ABOUT, "a change without a text")
            if not body:
                raise UsageError(f"there is nothing to change; give a text, or any of {', '.join(ABOUT)}")
        described = {name: body.get(name) for name in ABOUT}
        base = await self._state.workers.run(lambda: base_of(request, access))
        if has_text:
            upload = _upload({**body, "id": document}, "a document")
        else:
            await self._state.workers.run(lambda: base.get(document))
            upload = Upload(b"", id=document, **described)
        await self._state.workers.run(lambda: base.check(upload))

        def work(progress: Progress) -> Outcomes:
            if has_text:
                return _outcomes([base.put(**_checked({**body, "id": document}, "a document"))])
            return _outcomes([base.update(document, **body)])

        return await self._state.changes.make(request, base.slug, work)

    async def delete(self, request: Request, access: Access) -> Response:
        document = request.path_params["doc"]
        base = await self._state.workers.run(lambda: base_of(request, access))
        await self._state.workers.run(lambda: base.get(document))

        def work(progress: Progress) -> Deleted:
            base.delete(document)
            return {"id": document, "outcome": "deleted"}

        return await self._state.changes.make(request, base.slug, work)

    async def source_file(self, request: Request, access: Access) -> Response:
        await self._state.guard.insist(access.key)  # spec 003: an authenticated route

        def work() -> Response:
            base, document = base_of(request, access), request.path_params["doc"]
            if base.get(document)["source_type"] == "text":
                raise Conflict(
                    "this document was given as text, so it has no file; its passages hold all of the text",
                    code="source_file_not_available",
                )
            file = base.source_file(document)
            return file_response(file, open_file(file), request.headers)

        return await self._state.workers.run(work)


def _uploads(body: Mapping[str, Any], most: int) -> list[Upload]:
    check_fields(body, ["documents"], "a call with several documents")
    given = body["documents"]
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise UsageError("documents must be a list of objects", details={"parameter": "documents"})
    if len(given) > most:
        raise LimitError(f"the call has {len(given)} documents; at most {most} are allowed in one call")
    return [_upload(item, f"documents[{place}]") for place, item in enumerate(given)]


def _upload(given: Mapping[str, Any], owner: str) -> Upload:
    fields = _checked(given, owner)
    texts = [fields[name] for name in ("text", "content") if fields.get(name) is not None]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise UsageError(f"{owner} must have either a text or a content, as a string")
    about = {name: fields.get(name) for name in (*ABOUT, "id")}
    return Upload(texts[0].encode("utf-8", "replace"), mime=fields.get("mime", "text/plain"), **about)


def _checked(given: Mapping[str, Any], owner: str) -> Mapping[str, Any]:
    check_fields(given, FIELDS, owner)
    if not isinstance(given.get("mime", ""), str):
        raise UsageError(f"mime of {owner} must be a media type, such as 'text/markdown'")
    return given


def _about(received: Received) -> dict[str, Any]:
    """The fields of the form. Only metadata may apply to several files."""
    if not received.files:
        raise UsageError("the form holds no file; send each as a part with a filename")
    fields = {name: value.decode("utf-8", "replace") for name, value in received.fields.items()}
    alone = sorted(set(fields) - {"metadata"})
    if alone and len(received.files) > 1:
        raise UsageError(f"{alone[0]} can be given with one file only; send that file by itself")
    about: dict[str, Any] = {**fields}
    if "metadata" in fields:
        try:
            about["metadata"] = json.loads(fields["metadata"])
        except (ValueError, RecursionError):
            raise UsageError("metadata must be a JSON object", details={"parameter": "metadata"}) from None
    return about


def _put_all(
    base: KnowledgeBase, batches: Iterable[Sequence[Upload]], total: int, progress: Progress
) -> Outcomes:
    """Store the documents. After each one the job may be cancelled, or give way to those of others."""
    outcomes: list[Outcome] = []
    for batch in batches:
        step = partial(progress, "documents", len(outcomes), total)
        step()
        outcomes += base.put_many(batch, step=step)
    return _outcomes(outcomes)


def _outcomes(outcomes: Sequence[Outcome]) -> Outcomes:
    """The outcome of each document; an error if not one was taken."""
    documents = [asdict(outcome) for outcome in outcomes]
    if documents and all(outcome.outcome == "refused" for outcome in outcomes):
        first = outcomes[0].message or "it cannot be read"
        message = f"none of {len(outcomes)} documents was taken; the first: {first}"
        error = RequestError(422, "documents_refused", message)
        error.details = {"documents": documents}
        raise error
    return {"documents": documents}
