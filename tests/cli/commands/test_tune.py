"""`quintet tune` from end to end: tuned, used by every search, undone; and what it refuses."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import quintet as package
from cli.conftest import Done, Quintet
from evaluation.drinks import write_collection
from evaluation.larder import write_project
from evaluation.riddles import QUERIES, word, write_library, write_queries
from quintet.evaluation.tuning.tuned_numbers import TunedNumbers, TunedStep

ASKED = f"the {word(7)} of it"
NUMBERS: dict[str, Any] = {"semantic_weight": 0.3, "heading_weight": 1.5, "feedback": 0.2}


@pytest.fixture
def riddles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed folder as the current one, with queries about it in ../asked."""
    folder = write_library(tmp_path / "library")
    write_queries(tmp_path / "asked")
    monkeypatch.chdir(folder)
    with package.open(folder / ".quintet", embedder="hashing") as index:
        index.sync([folder])
    return folder


@pytest.fixture
def tuned(riddles: Path) -> Path:
    """The same, tuned already."""
    use(riddles)
    return riddles


def use(folder: Path) -> None:
    TunedNumbers(folder / ".quintet").add(
        TunedStep(NUMBERS, "asked", QUERIES, "hash-384", 0.5, (0.4, 0.6)), ()
    )


def told(done: Done) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)


def first(quintet: Quintet, *more: str) -> str:
    path: str = told(quintet("search", ASKED, "--json", *more))["results"][0]["path"]
    return path


def test_a_gain_beyond_chance_is_written_and_every_search_uses_it(riddles: Path, quintet: Quintet) -> None:
    assert first(quintet).startswith("decoy")
    made = told(quintet("tune", "../asked", "--json"))
    assert (made["dataset"], made["queries"], made["written"], made["reason"]) == (
        "asked",
        QUERIES,
        True,
        None,
    )
    assert made["after"]["numbers"] == NUMBERS
    assert made["after"]["mean"] == pytest.approx(0.99, abs=0.005), "one fold of five chose another weight"
    low, high = made["gain"]["interval"]
    assert 0 < low <= made["gain"]["difference"] <= high
    assert first(quintet) == f"{word(7)}.txt"
    with package.open(riddles / ".quintet") as index:
        assert index.search(ASKED).body == index.search(ASKED, **NUMBERS).body


def test_what_a_request_says_still_wins(tuned: Path, quintet: Quintet) -> None:
    assert first(quintet) == f"{word(7)}.txt"
    assert first(quintet, "--param", "semantic_weight=0.9").startswith("decoy")


def test_an_index_that_is_open_already_uses_the_numbers_at_once(riddles: Path, quintet: Quintet) -> None:
    with package.open(riddles / ".quintet") as index:
        before = index.search(ASKED).body
        use(riddles)
        assert index.search(ASKED).body == index.search(ASKED, **NUMBERS).body != before
        assert index.status().tuned == NUMBERS
        quintet("tune", "--undo")
        assert index.search(ASKED).body == before
        assert index.status().tuned == {}


def test_people_read_before_after_gain_and_where_it_went(riddles: Path, quintet: Quintet) -> None:
    done = quintet("tune", "../asked")
    assert "with tuned ones it is unknown, and null [confidence_unknown]" in done.err
    lines = done.out.splitlines()
    assert lines[0] == "asked: 60 queries in 5 folds, 36 combinations"
    assert lines[2].split() == ["semantic_weight", "0.7", "0.3", "0.3", "0.3", "0.5", "0.3", "0.3"]
    assert lines[-2].startswith("gain +0.")
    file = riddles / ".quintet" / "tuned.json"
    assert lines[-1] == f"written to {file}; to undo this: quintet tune --undo"
    shown = quintet("status").out
    assert "tuned       semantic_weight 0.3, heading_weight 1.5, feedback 0.2\n" in shown
    assert "ok  tuned     by 60 queries of asked, gain +0." in quintet("doctor").out


def test_the_command_that_is_shown_undoes_it(riddles: Path, quintet: Quintet, tmp_path: Path) -> None:
    moved = (riddles / ".quintet").rename(tmp_path / "an index")
    line = quintet("tune", "../asked", "--db", str(moved)).out.splitlines()[-1]
    program, *arguments = shlex.split(line.partition("to undo this: ")[2])
    assert (program, arguments) == ("quintet", ["tune", "--undo", "--db", str(moved)])
    assert quintet(*arguments).code == 0
    assert not (moved / "tuned.json").exists()


def test_an_evaluation_tells_which_tuned_numbers_took_part(tuned: Path, quintet: Quintet) -> None:
    page = ("eval", "../asked", "--split", "train")
    said = "with numbers tuned by 60 queries of asked: "
    done = quintet(*page)
    assert f"{said}semantic_weight 0.3, heading_weight 1.5, feedback 0.2 [tuned]" in done.err
    assert (
        f"{said}heading_weight 1.5, feedback 0.2 [tuned]"
        in quintet(*page, "--param", "semantic_weight=0.5").err
    )
    assert "[tuned]" not in quintet(*page, "--contract", "cfs").err
    quintet("tune", "--undo")
    assert "[tuned]" not in quintet(*page).err


def test_numbers_for_another_embedder_are_not_used_and_searches_say_so(
    riddles: Path, quintet: Quintet
) -> None:
    with package.open(riddles / ".quintet") as index:
        before = index.search(ASKED).body
        TunedNumbers(riddles / ".quintet").add(
            TunedStep(NUMBERS, "asked", QUERIES, "granite", 0.5, (0.4, 0.6)), ()
        )
        found = index.search(ASKED)
        assert found.body == before
        assert [note["code"] for note in found.notes].count("tuned_for_another") == 1
        assert "tuned_for_another" not in [note["code"] for note in index.search(ASKED, "cfs").notes]
        assert index.status().tuned == {}
    assert "note: the tuned numbers are not used: for granite" in quintet("status").err
    assert "[tuned_for_another]" in quintet("eval", "../asked", "--split", "train").err
    again = quintet("tune", "../asked", "--json")
    assert (told(again)["before"]["numbers"]["semantic_weight"], told(again)["written"]) == (0.7, True)
    assert "[tuned_for_another]" in again.err
    assert first(quintet) == f"{word(7)}.txt"


def test_tuning_a_second_time_changes_nothing_and_says_so(tuned: Path, quintet: Quintet) -> None:
    kept = (tuned / ".quintet" / "tuned.json").read_bytes()
    again = told(quintet("tune", "../asked", "--json"))
    assert again["before"]["numbers"] == again["after"]["numbers"] == NUMBERS
    assert (again["written"], again["reason"]) == (
        False,
        "the numbers in use are the best of 36 combinations",
    )
    assert (tuned / ".quintet" / "tuned.json").read_bytes() == kept


def test_a_dry_run_writes_nothing_and_a_second_one_says_the_same(riddles: Path, quintet: Quintet) -> None:
    dry = quintet("tune", "../asked", "--json", "--dry-run")
    assert (told(dry)["written"], told(dry)["reason"]) == (False, "--dry-run was given")
    assert not (riddles / ".quintet" / "tuned.json").exists()
    assert quintet("tune", "../asked", "--json", "--dry-run").out == dry.out


def test_an_uncertain_gain_is_not_written(riddles: Path, quintet: Quintet) -> None:
    """Two of three queries want a decoy, so what helps some harms others."""
    qrels = riddles.parent / "asked" / "qrels" / "train.tsv"
    lines = qrels.read_text("utf-8").splitlines()
    for number in range(QUERIES):
        if number % 3:
            lines[number] = f"q{number}\tdecoy{number % 2}.txt\t1"
    qrels.write_text("\n".join(lines) + "\n", "utf-8")
    done = quintet("tune", "../asked")
    assert done.code == 0
    assert "nothing was written: the interval of the gain includes zero" in done.out
    assert not (riddles / ".quintet" / "tuned.json").exists()


def test_undo_puts_back_what_was_there_and_then_has_nothing_to_do(tuned: Path, quintet: Quintet) -> None:
    assert told(quintet("tune", "--undo", "--json")) == {"undone": NUMBERS, "tuned": {}}
    assert first(quintet).startswith("decoy")
    again = quintet("tune", "--undo")
    assert again.code == 3
    assert "is not tuned, so there is nothing to undo" in again.err


def test_numbers_of_quintet_toml_are_left_alone(riddles: Path, quintet: Quintet) -> None:
    (riddles / "quintet.toml").write_text("[contracts.quintet]\nsemantic_weight = 0.7\n", "utf-8")
    done = quintet("tune", "../asked", "--json")
    assert list(told(done)["before"]["numbers"]) == ["heading_weight", "feedback"]
    assert "not tuned, because quintet.toml sets it: semantic_weight [fixed_by_settings]" in done.err


def test_quintet_toml_comes_before_what_was_tuned(tuned: Path, quintet: Quintet) -> None:
    (tuned / "quintet.toml").write_text("[contracts.quintet]\nsemantic_weight = 0.7\n", "utf-8")
    assert first(quintet).startswith("decoy")


def test_nothing_is_left_to_tune_where_settings_say_it_all(riddles: Path, quintet: Quintet) -> None:
    table = "".join(f"{name} = {value}\n" for name, value in NUMBERS.items())
    (riddles / "quintet.toml").write_text(f"[contracts.quintet]\n{table}", "utf-8")
    done = quintet("tune", "../asked")
    assert done.code == 2
    assert "which overrule tuned numbers; remove those that you want to tune" in done.err


def test_receipts_hold_across_tuning_and_undoing(riddles: Path, quintet: Quintet) -> None:
    with package.open(riddles / ".quintet") as index:
        _, untuned = index.receipts.search(ASKED)
        use(riddles)
        _, tuned = index.receipts.search(ASKED)
        assert tuned["claim"]["params"] == NUMBERS  # type: ignore[index, call-overload]
        assert index.receipts.verify(untuned).identical
        quintet("tune", "--undo")
        assert index.receipts.verify(tuned).identical


def test_a_corpus_is_tuned_where_it_is_kept(tmp_path: Path, quintet: Quintet) -> None:
    records = [
        {"_id": one.name, "text": one.read_text("utf-8")} for one in write_library(tmp_path / "l").iterdir()
    ]
    folder = write_queries(tmp_path / "asked")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    kept = ("--db", str(tmp_path / "kept"))
    grid = ("--param", "limit=10", "--json", "--split", "train", "--metrics", "ndcg@10")
    told(quintet("eval", str(folder), *kept, *grid, "--embedder", "hashing"))
    made = told(quintet("tune", str(folder), *kept, "--json"))
    assert made["written"]
    after = told(quintet("eval", str(folder), *kept, *grid))["runs"][0]["metrics"]["ndcg@10"]
    assert after > made["before"]["mean"] + 0.3
    assert told(quintet("tune", "--undo", *kept, "--json"))["undone"] == made["after"]["numbers"]


def test_before_is_what_eval_measures_on_a_page(riddles: Path, quintet: Quintet) -> None:
    page = ("--split", "train", "--param", "limit=10", "--metrics", "ndcg@10", "--json")
    measured = told(quintet("eval", "../asked", *page))["runs"][0]["metrics"]["ndcg@10"]
    dry = told(quintet("tune", "../asked", "--json", "--dry-run"))
    assert dry["before"]["mean"] == measured


def test_answers_that_are_not_in_the_corpus_are_no_answers(tmp_path: Path, quintet: Quintet) -> None:
    folder = write_queries(tmp_path / "asked")
    corpus = [
        json.dumps({"_id": f"{word(number)}.txt", "text": word(number)}) for number in range(11, QUERIES)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n", "utf-8")
    done = quintet("tune", str(folder), "--db", str(tmp_path / "kept"))
    assert done.code == 2
    assert (
        "asked has 49 queries with a relevant document there, because 11 of 60 judged items are missing"
        in done.err
    )
    assert not (tmp_path / "kept").exists()


def test_answers_that_are_not_in_the_index_are_no_answers(riddles: Path, quintet: Quintet) -> None:
    with package.open(riddles / ".quintet") as index:
        for number in range(11):
            index.forget(f"{word(number)}.txt")
    done = quintet("tune", "../asked")
    assert done.code == 2
    assert (
        "asked has 49 queries with a relevant document there, because 11 of 60 judged items are missing"
        in done.err
    )


def test_too_few_queries_are_refused(riddles: Path, quintet: Quintet, tmp_path: Path) -> None:
    write_queries(tmp_path / "few", 49)
    done = quintet("tune", "../few")
    assert done.code == 2
    assert "few has 49 queries with a relevant document; tuning needs at least 50" in done.err


def test_an_index_of_words_alone_cannot_be_tuned(riddles: Path, quintet: Quintet, tmp_path: Path) -> None:
    with package.open(tmp_path / "words", embedder=None) as index:
        index.sync([riddles])
    done = quintet("tune", "../asked", "--db", str(tmp_path / "words"))
    assert done.code == 4
    assert "this index has no vectors" in done.err


def test_the_questions_of_a_small_index_are_too_few(
    tmp_path: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path / "larder")
    monkeypatch.chdir(folder)
    with package.open(folder / ".quintet", embedder="hashing") as index:
        index.sync([folder])
    done = quintet("tune", "--self")
    assert done.code == 2
    assert "tuning needs at least 50" in done.err


def test_a_broken_file_stops_the_house_contract_alone_with_what_to_do(
    riddles: Path, quintet: Quintet
) -> None:
    (riddles / ".quintet" / "tuned.json").write_text("{}", "utf-8")
    done = quintet("search", ASKED)
    assert done.code == 4
    assert "tuned.json is not a valid file of 'quintet tune'" in done.err
    assert quintet("doctor").code == 6
    assert quintet("search", ASKED, "--contract", "cfs").code == 0
    assert quintet("eval", "../asked", "--split", "train", "--contract", "cfs").code == 0
    status = quintet("status")
    assert (status.code, "tuned       no\n" in status.out) == (0, True)
    assert "note: the tuned numbers are not used: " in status.err
    undone = quintet("tune", "--undo")
    assert (undone.code, undone.out) == (0, "undone: a broken file\nin use from now on: the defaults\n")
    assert "and was removed [broken]" in undone.err
    assert quintet("search", ASKED).code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name the folder of a collection, or use --self to make questions from the index"),
        (("drinks", "--self"), "--self makes questions from the index"),
        (("--self", "--split", "train"), "--self has none; leave it out"),
        (("--undo", "--self"), "--undo can be combined only with --db and --json"),
        (("--undo", "drinks"), "--undo can be combined only with --db and --json"),
        (("--undo", "--dry-run"), "--undo can be combined only with --db and --json"),
        (("drinks", "--split", "test"), "tuning needs at least 50"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    write_collection(tmp_path / "drinks")
    monkeypatch.chdir(tmp_path)
    done = quintet("tune", *arguments)
    assert done.code == 2
    assert says in done.err
