"""`reindex` of spec 000: which places it takes, what it counts; it neither blocks nor outlives a call."""

from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp_support import body, fill, inside, over_stdio, refusal, text

import quintet
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio

MANY = 1_500  # files, a transaction each: far more than are done before a client can say stop


async def paths_found(client: Client) -> set[str]:
    found = body(await client.call_tool("search_rifflux", {"query": "cache key answers", "mode": "lexical"}))
    return {result["path"] for result in found["results"]}


async def test_before_the_first_reindex_a_search_says_that_nothing_was_ever_indexed(
    shared: SharedIndex,
) -> None:
    async with inside(shared) as client:
        never = body(await client.call_tool("search_rifflux", {"query": "cache"}))
    assert (never["status"], never["count"], never["results"]) == ("never_indexed", 0, [])


@pytest.mark.requirement("000-CON-006", "000-AC-010")
async def test_without_any_place_the_servers_working_folder_is_indexed(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        done = body(await client.call_tool("reindex", {}))
        assert await paths_found(client) == {"docs/cache.md", "docs/keys.md", "src/store.py"}
    assert done["indexed_files"] == 3
    assert "indexed_paths" not in done


@pytest.mark.requirement("000-CON-004")
async def test_one_place_or_several_can_be_named(shared: SharedIndex, library: Path) -> None:
    async with inside(shared) as client:
        one = body(await client.call_tool("reindex", {"path": "src"}))
        several = body(await client.call_tool("reindex", {"paths": ["docs", "src"]}))
    assert (one["indexed_files"], "indexed_paths" in one) == (1, False)
    assert several["indexed_paths"] == [str(library / "docs"), str(library / "src")]


@pytest.mark.requirement("000-AC-008", "000-4.5-INPUT")
async def test_counts_are_added_up_over_all_places(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        first = body(await client.call_tool("reindex", {"paths": ["docs", "src"]}))
        again = body(await client.call_tool("reindex", {"paths": ["docs", "src"]}))
        forced = body(await client.call_tool("reindex", {"paths": ["docs", "src"], "force": True}))
    assert (first["indexed_files"], first["skipped_files"]) == (3, 0)
    assert (again["indexed_files"], again["skipped_files"]) == (0, 3)
    assert (forced["indexed_files"], forced["skipped_files"]) == (3, 0)


@pytest.mark.requirement("000-CON-005", "000-AC-009", "000-EDGE-6", "000-4.5-INPUT")
async def test_with_path_and_paths_only_paths_are_used(shared: SharedIndex, library: Path) -> None:
    async with inside(shared) as client:
        done = body(await client.call_tool("reindex", {"path": "docs", "paths": ["src"]}))
        assert await paths_found(client) == {"store.py"}
        ignored = body(await client.call_tool("reindex", {"path": "no such place", "paths": ["src"]}))
    assert (done["indexed_files"], done["indexed_paths"]) == (1, [str(library / "src")])
    assert ignored["skipped_files"] == 1


@pytest.mark.requirement("000-EDGE-7")
async def test_an_empty_list_of_paths_counts_as_none(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        named = body(await client.call_tool("reindex", {"path": "src", "paths": []}))
        nothing = body(await client.call_tool("reindex", {"paths": []}))
    assert (named["indexed_files"], "indexed_paths" in named) == (1, False)
    assert (nothing["skipped_files"], nothing["roots"]) == (1, ["src"])  # refreshed, since it is there now


async def test_without_any_place_roots_in_the_working_folder_are_refreshed_and_not_replaced(
    shared: SharedIndex, library: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "note.md").write_text("# Note\n", "utf-8")
    shared.sync([str(library / "docs"), f"code={library / 'src'}", str(elsewhere)])
    before = shared.roots()
    (library / "scratch.md").write_text("# Scratch\n\ncache key answers\n", "utf-8")
    (library / "docs" / "new.md").write_text("# New\n\ncache key answers\n", "utf-8")
    (elsewhere / "later.md").write_text("# Later\n\ncache key answers\n", "utf-8")
    async with inside(shared) as client:
        result = await client.call_tool("reindex", {})
        assert await paths_found(client) == {"cache.md", "keys.md", "new.md", "store.py"}
    assert (body(result)["roots"], body(result)["indexed_files"]) == (["code", "docs"], 1)
    assert "roots: code, docs" in text(result)
    assert shared.roots() == before


async def test_without_any_place_a_working_folder_that_is_not_allowed_is_not_indexed(
    library: Path, tmp_path: Path
) -> None:
    stranger, project = tmp_path / "stranger", tmp_path / "project"
    for folder in (stranger, project):
        folder.mkdir()
        (folder / "note.md").write_text("# Note\n", "utf-8")
    shared = SharedIndex(quintet.open(project / ".quintet", None), base=stranger, allow=[project])
    async with inside(shared) as client:
        code, said = refusal(await client.call_tool("reindex", {}))
        assert (code, shared.roots()) == ("forbidden", [])
        assert str(project) not in said
        named = body(await client.call_tool("reindex", {"path": str(project)}))
        again, _ = refusal(await client.call_tool("reindex", {}))
    assert (named["indexed_files"], named["roots"], again) == (1, ["project"], "forbidden")
    assert [root.location for root in shared.roots()] == [str(project)]
    shared.close()


async def test_a_place_outside_is_refused_in_the_same_words_whether_it_exists_or_not(
    shared: SharedIndex, library: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (library / "out").symlink_to(tmp_path / "there")
    (library / "dead").symlink_to(tmp_path / "gone")
    names = [str(tmp_path / name) for name in ("there", "gone", "loop", "there/gone")] + ["out", "dead"]
    async with inside(shared) as client:
        refusals = [refusal(await client.call_tool("reindex", {"path": name})) for name in names]
        missing = refusal(await client.call_tool("reindex", {"path": "docs/gone"}))
    pairs = zip(names, refusals, strict=True)
    ((code, said),) = {(code, message.replace(repr(name), "NAME")) for name, (code, message) in pairs}
    assert code == "forbidden"
    assert str(library) not in said
    assert missing[0] == "invalid_path"


async def test_more_paths_than_allowed_are_refused_before_any_is_looked_at(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        code, said = refusal(await client.call_tool("reindex", {"paths": ["nowhere"] * 1_001}))
    assert code == "too_large"
    assert "paths names 1001 files and folders; at most 1000 are allowed" in said


async def test_all_places_are_checked_before_any_is_indexed(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        code, _ = refusal(await client.call_tool("reindex", {"paths": ["docs", "nowhere"]}))
        status = body(await client.call_tool("status", {}))
    assert code == "invalid_path"
    assert status["files"] == 0


@pytest.mark.requirement("000-4.5-OUTPUT")
async def test_the_answer_has_the_fields_of_the_specification_and_ours_beside_them(
    shared: SharedIndex,
) -> None:
    theirs = {"indexed_files", "skipped_files", "embedding_model", "embedding_backend"}
    ours = {"removed_files", "pending", "problems", "roots"}
    async with inside(shared) as client:
        one = body(await client.call_tool("reindex", {"path": "docs"}))
        several = body(await client.call_tool("reindex", {"paths": ["docs"]}))
    assert set(one) == theirs | ours
    assert set(several) == theirs | ours | {"indexed_paths"}


@pytest.mark.requirement("000-4.5-OUTPUT")
async def test_the_answer_names_the_embedder_and_what_could_not_be_read(
    shared: SharedIndex, library: Path
) -> None:
    (library / "docs" / "broken.md").write_bytes(b"\xff\xfe\x00\x01 not text \x00")
    async with inside(shared) as client:
        result = await client.call_tool("reindex", {})
    done = body(result)
    assert (done["embedding_model"], done["embedding_backend"]) == ("hash-384", "hashing")
    assert [problem["path"] for problem in done["problems"]] == ["docs/broken.md"]
    assert done["skipped_files"] == 1
    assert "docs/broken.md" in text(result)


async def test_without_an_embedder_nothing_is_pending(library: Path) -> None:
    shared = SharedIndex(quintet.open(library / ".quintet", None), base=library)
    async with inside(shared) as client:
        done = body(await client.call_tool("reindex", {}))
    shared.close()
    assert (done["embedding_model"], done["embedding_backend"], done["pending"]) == ("none", "none", 0)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_stdio_a_library_is_indexed_and_searched_with_progress(library: Path, mode: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async with over_stdio(library, mode=mode, QUINTET_BATCH_FILES="1") as client:
        done = body(await client.call_tool("reindex", {"paths": ["docs", "src"]}, progress_callback=hear))
        found = body(await client.call_tool("search", {"query": "minutes"}))
    assert done["indexed_files"] == 3
    assert found["results"][0]["path"] == "cache.md"
    steps = [progress for progress, _ in heard]
    assert steps[:3] == [1, 2, 3]
    assert steps == sorted(set(steps)), "the protocol wants a number that only grows"
    assert all(total is not None and progress <= total for progress, total in heard)


@pytest.fixture
def crowd(library: Path) -> Path:
    for number in range(MANY):
        (library / f"{number}.md").write_text(f"# Note {number}\n\nwritten by hand\n", "utf-8")
    return library


async def test_other_calls_are_answered_during_a_reindex_and_a_cancelled_one_ends(crowd: Path) -> None:
    started = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    async with (
        over_stdio(crowd, QUINTET_BATCH_FILES="1") as client,
        anyio.create_task_group() as group,
    ):
        finished = False

        async def reindex() -> None:
            nonlocal finished
            await client.call_tool("reindex", {}, progress_callback=hear)
            finished = True

        group.start_soon(reindex)
        await started.wait()
        answers = []
        for name, given in (("search", {"query": "note"}), ("status", {}), ("read", {"reference": "0.md"})):
            answers.append(await client.call_tool(name, given))
        assert not finished
        assert not any(answer.is_error for answer in answers)
        group.cancel_scope.cancel()
    assert not finished


async def test_after_a_cancelled_reindex_the_next_one_completes_it(crowd: Path) -> None:
    async def stop(progress: float, total: float | None, message: str | None) -> None:
        scope.cancel()

    async with over_stdio(crowd, QUINTET_BATCH_FILES="1") as client:
        with anyio.CancelScope() as scope:
            await client.call_tool("reindex", {}, progress_callback=stop)
        assert scope.cancelled_caught
        await client.call_tool("reindex", {"path": "docs"})  # has its turn once the other has ended
        cut_short = body(await client.call_tool("status", {}))["files"]
        await client.call_tool("reindex", {"path": "src"})
        assert body(await client.call_tool("status", {}))["files"] <= cut_short + 1
    assert 0 < cut_short < MANY


async def test_two_reindexes_at_once_both_succeed(shared: SharedIndex, tmp_path: Path) -> None:
    fill(tmp_path / "library" / "second")
    done: list[int] = []

    async def reindex(path: str) -> None:
        done.append(body(await client.call_tool("reindex", {"path": path}))["indexed_files"])

    async with inside(shared) as client, anyio.create_task_group() as group:
        group.start_soon(reindex, "docs")
        group.start_soon(reindex, "second")
    assert sorted(done) == [2, 3]
