"""The house ranking by what kind of query it is asked: names, messages, lines and questions."""

from contracts.conftest import Library
from contracts.fixed import codes, results

FUNCTIONS = "\n\n".join(
    f"def step_{at}(job):\n    return job.run({at}) + job.wait({at})\n" for at in range(60)
)
FILES = {
    "app/jobs.py": FUNCTIONS,
    "app/errors.py": "class JobError(Exception):\n    pass\n",
    "app/store.py": 'def fetch(job_id):\n    raise JobError(f"no job by the id of {job_id} was found")\n',
    "app/queue.py": "def job_found(job):\n    return job.found\n\n\ndef no_job(job):\n    return not job\n",
    "docs/guide.md": "# Guide\n\nTo wait for a job, call a step of it.\n",
}


def test_a_path_with_a_line_finds_the_chunk_of_that_line_first(library: Library) -> None:
    index = library(FILES)
    line = FUNCTIONS[: FUNCTIONS.index("def step_47(")].count("\n") + 1
    response = index.search(f"app/jobs.py:{line}", limit=3)
    first, second, _ = results(response)
    assert first["lines"][0] <= line <= first["lines"][1]
    assert (first["path"], second["path"]) == ("app/jobs.py", "app/jobs.py"), "a path asks for one file"
    assert "read_as" in codes(response)


def test_a_message_finds_the_place_that_says_it_whatever_values_it_has(library: Library) -> None:
    response = library(FILES).search("JobError: no job by the id of 'sync_users' was found", limit=1)
    (best,) = results(response)
    assert best["path"] == "app/store.py"
    assert best["signals"]["literal"]["score"] == 1.0
    assert best["signals"]["literal"]["contribution"] == 0.2 * 1.0


def test_a_chunk_that_holds_the_name_is_a_candidate_however_badly_it_ranks(library: Library) -> None:
    noise = {f"noise/f{at:03}.txt": "step forty seven and step forty seven again" for at in range(120)}
    response = library({**noise, **FILES}).search("step_47", limit=1, mode="lexical")
    assert [item["heading_path"] for item in results(response)] == ["step_47"]


def test_a_question_raises_documentation_and_lowers_what_speaks_for_whole_files(library: Library) -> None:
    index = library(FILES)
    asked = {
        item["path"]: item["signals"] for item in results(index.search("how do I wait for jobs", limit=100))
    }
    stated = {item["path"]: item["signals"] for item in results(index.search("waiting for jobs", limit=100))}
    assert asked["docs/guide.md"]["role"]["contribution"] == 0.2 * 1.0
    assert "role" not in stated["docs/guide.md"]
    for signal in ("path", "agreement"):
        assert asked["app/jobs.py"][signal]["weight"] == stated["app/jobs.py"][signal]["weight"] / 2 == 0.15
