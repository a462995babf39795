"""Which files are found: real trees, real links, and git itself as the judge of ignore files."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.trees import DEFAULTS, make_tree, walked_paths
from quintet.errors import UsageError
from quintet.indexing.disk import escape_path
from quintet.indexing.files import FileProblem
from quintet.indexing.walk import walk
from quintet.settings import Settings

LEFT_OUT = """
    .git/config .hg/x .hidden/a.md .env .env.local .quintet/a.md server.pem id_rsa id_rsa.pub credentials.json
    node_modules/a/i.js venv/a.py __pycache__/a.py a/site-packages/b.py package-lock.json uv.lock go.sum
    dist/a.js build/a.py htmlcov/a.html a.egg-info/PKG-INFO a.min.js a.js.map
    a.PNG a.tar.gz a.odt a.pyc a.sqlite3
"""


def test_files_come_in_the_byte_order_of_their_paths_with_their_facts(tmp_path: Path) -> None:
    make_tree(tmp_path, "b/z.md", "b.md", "B.md", "a/é.md", "a/z.md")
    os.utime(tmp_path / "b.md", ns=(1, 1_234_567_891))
    found, _ = walk(tmp_path, DEFAULTS)
    assert [file.path for file in found] == ["B.md", "a/z.md", "a/é.md", "b.md", "b/z.md"]
    assert (found[3].full_path, found[3].size, found[3].modified_ns) == (
        str(tmp_path / "b.md"),
        4,
        1_234_567_891,
    )


@pytest.mark.parametrize("name", LEFT_OUT.split())
def test_the_defaults_leave_it_out_at_any_depth_and_in_silence(tmp_path: Path, name: str) -> None:
    make_tree(tmp_path, name, f"docs/{name}", "keep.md")
    assert walked_paths(tmp_path) == ["keep.md"]


@pytest.mark.parametrize(
    "name", ["out/a.js", "vendor/a.go", "target/a.md", "env/a.py", "key", "map", "lock.md"]
)
def test_a_name_that_only_resembles_an_exclusion_is_found(tmp_path: Path, name: str) -> None:
    assert walked_paths(make_tree(tmp_path, name)) == [name]


def test_target_and_env_are_left_out_where_something_shows_what_they_are(tmp_path: Path) -> None:
    make_tree(tmp_path, "rust/Cargo.toml", "rust/target/a.d", "env/pyvenv.cfg", "env/lib/a.py")
    assert walked_paths(tmp_path) == ["rust/Cargo.toml"]


@pytest.mark.parametrize("name", ["build", ".hidden", "node_modules"])
def test_the_rules_hold_below_the_root_and_not_for_it(tmp_path: Path, name: str) -> None:
    make_tree(tmp_path / name, "a.md")
    assert walked_paths(tmp_path / name) == ["a.md"]


def test_a_quintetignore_brings_back_what_the_defaults_and_gitignore_leave_out(tmp_path: Path) -> None:
    make_tree(tmp_path, "dist/a.js", "dist/b.min.js", ".github/ci.yml", "notes.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".quintetignore").write_text("!dist/\n!.github/\n!*.log\n")
    assert walked_paths(tmp_path) == [".github/ci.yml", "dist/a.js", "notes.log"]


def test_a_gitignore_does_not_bring_back_what_the_defaults_leave_out(tmp_path: Path) -> None:
    make_tree(tmp_path, "yarn.lock", "a.md")
    (tmp_path / ".gitignore").write_text("!yarn.lock\n")
    assert walked_paths(tmp_path) == ["a.md"]


def test_nothing_brings_back_version_control_or_an_index(tmp_path: Path) -> None:
    make_tree(tmp_path, ".git/config", ".svn/a", ".quintet/a", "sub/.git/b", "a.md")
    (tmp_path / ".quintetignore").write_text("!.git/\n!.svn/\n!.quintet/\n")
    assert walked_paths(tmp_path) == ["a.md"]


def test_a_deeper_ignore_file_overrides_one_above_it(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.txt", "sub/a.txt", "sub/deep/a.txt")
    (tmp_path / ".quintetignore").write_text("*.txt\n")
    (tmp_path / "sub/.gitignore").write_text("!/a.txt\n")
    assert walked_paths(tmp_path) == ["sub/a.txt"]


def test_the_exclude_file_of_the_repository_counts_least(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.txt", "b.txt", ".git/info/exclude")
    (tmp_path / ".git/info/exclude").write_text("*.txt\n")
    (tmp_path / ".gitignore").write_text("!b.txt\n")
    assert walked_paths(tmp_path) == ["b.txt"]


def test_an_ignore_file_that_cannot_be_used_is_a_problem_and_the_walk_goes_on(tmp_path: Path) -> None:
    make_tree(tmp_path, "a/x.md", "b/x.md", "c/x.md", "d/x.md", "e/x.md")
    (tmp_path / "a/.gitignore").write_bytes(b"caf\xe9\n")
    (tmp_path / "b/.gitignore").write_text("x.m[d\n*.txt\n")
    (tmp_path / "c/.gitignore").write_text("x.md\n" * 200_001)
    (tmp_path / "d/.gitignore").symlink_to(tmp_path / "b/.gitignore")
    (tmp_path / "e/.gitignore").write_text("x.md\n" * 10_001)
    found, problems = walk(tmp_path, DEFAULTS)
    assert [file.path for file in found] == ["a/x.md", "b/x.md", "c/x.md", "d/x.md", "e/x.md"]
    assert problems == [
        FileProblem("a/.gitignore", "not applied as an ignore file: not valid UTF-8 at byte 3"),
        FileProblem("b/.gitignore", "line 1, 'x.m[d': a bracket that is not closed"),
        FileProblem("c/.gitignore", "not applied as an ignore file: larger than 1000000 bytes"),
        FileProblem("d/.gitignore", "not applied as an ignore file: a symbolic link, or behind one"),
        FileProblem("e/.gitignore", "has 10001 patterns, more than 10000; none is applied"),
    ]


@pytest.mark.parametrize("pattern", ["*a" * 40 + "*b", "**/a/" * 40 + "b"])
def test_a_pattern_meant_to_backtrack_for_ever_does_not(tmp_path: Path, pattern: str) -> None:
    path = "a/" * 100 + "a" * 200
    make_tree(tmp_path, path)
    (tmp_path / ".gitignore").write_text(pattern)
    assert walked_paths(tmp_path) == [path]


GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
TOKENS = "a b ab c * ** ? [ab] [!a] [^b-z] [b-a] [[:alpha:]] [a-] []a] [ab / /**/ **/ /** ! # .txt \\a \\* \\"
# Left out: `a**/b`, which git takes for `a` and then `**/b`, against its own manual.
CLEAR = re.compile(r"(?!.*[^/*!]\*\*)(?!.+!\*\*).*")
PATTERNS = st.lists(st.sampled_from([*TOKENS.split(), " "]), min_size=1, max_size=5).map("".join)
IGNORE_FILE = st.lists(PATTERNS.filter(CLEAR.fullmatch), max_size=4).map("\n".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    leaves = ("a", "b.txt", "ab.txt", "c")
    make_tree(root, *leaves)
    for folder in ("ab", "b", "a.txt", "ab/b", "ab/ab", "b/c.txt", "ab/b/b"):
        make_tree(root, *(f"{folder}/{name}" for name in leaves if not (root / folder / name).is_dir()))
    subprocess.run(["git", "init", "-q", str(root)], env=GIT, check=True)
    return root


@settings(max_examples=150, deadline=None)
@given(top=IGNORE_FILE, inner=IGNORE_FILE)
def test_ignore_files_mean_what_git_takes_them_to_mean(repository: Path, top: str, inner: str) -> None:
    (repository / ".gitignore").write_text(top)
    (repository / "ab/.gitignore").write_text(inner)
    command = ["git", "-C", str(repository), "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, env=GIT, check=True, capture_output=True, text=True).stdout.split("\0")
    found, _ = walk(repository, DEFAULTS)
    assert [file.path for file in found] == sorted(path for path in listed if path and ".git" not in path)


@pytest.mark.parametrize("pattern", ["[b-a]", "[!b-a]", "[c-ab]", "[b-a-c]", "x[b-a]"])
def test_of_a_range_that_runs_backwards_the_start_matches_as_in_git(repository: Path, pattern: str) -> None:
    names = ["a", "b", "c", "-", "xa", "xb"]
    for name in names:
        make_tree(repository, f"range/{name}")
    (repository / "range/.gitignore").write_text(pattern)
    command = ["git", "-C", str(repository / "range"), "check-ignore", "--no-index", *names]
    ignored = subprocess.run(command, env=GIT, capture_output=True, text=True).stdout.split()
    found, _ = walk(repository / "range", DEFAULTS)
    shutil.rmtree(repository / "range")
    assert {file.path for file in found} == set(names) - set(ignored)
    assert ignored


def test_include_globs_choose_and_a_folder_brings_what_is_below_it(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.md", "a.py", "docs/a.py", "docs/b/a.txt", "src/docs/a.py", "dist/a.md")
    assert walked_paths(tmp_path, Settings(include=("*.md", "/docs/"))) == [
        "a.md",
        "docs/a.py",
        "docs/b/a.txt",
    ]
    assert walked_paths(tmp_path, Settings(include=("dist/",))) == []
    assert len(walked_paths(tmp_path, Settings(include=("",)))) == 5


def test_exclude_globs_leave_out_files_and_folders(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.md", "a.py", "docs/a.py", "docs/a.md", "x/docs/a.md")
    assert walked_paths(tmp_path, Settings(exclude=("*.py", "/docs"))) == ["a.md", "x/docs/a.md"]


def test_a_glob_that_is_not_understood_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"setting exclude .*'x\[': a bracket that is not closed"):
        walk(tmp_path, Settings(exclude=("x[",)))


def test_a_file_over_the_cap_is_a_problem_and_one_at_the_cap_is_found(tmp_path: Path) -> None:
    make_tree(tmp_path, "four.md")
    (tmp_path / "five.md").write_text("12345")
    found, problems = walk(tmp_path, Settings(max_file_bytes=4))
    assert [file.path for file in found] == ["four.md"]
    assert problems == [FileProblem("five.md", "larger than 4 bytes (5); raise max_file_bytes to index it")]


def test_names_that_cannot_be_stored_or_printed_are_problems(tmp_path: Path) -> None:
    make_tree(tmp_path, "line\nbreak.md", "tab\t/a.md", "fine.md")
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("")
    (tmp_path / os.fsdecode(b"caf\xe9.png")).write_text("")
    found, problems = walk(tmp_path, DEFAULTS)
    assert [file.path for file in found] == ["fine.md"]
    assert problems == [
        FileProblem("caf\\xe9.md", "its name is not valid UTF-8"),
        FileProblem("line\\nbreak.md", "its name contains a control character"),
        FileProblem("tab\\t/", "its name contains a control character"),
    ]


def test_a_name_that_only_windows_can_have_is_a_problem_too() -> None:
    with pytest.raises(UnicodeEncodeError):
        "half\ud800.md".encode("utf-8", "surrogateescape")
    assert escape_path("half\ud800 caf\udce9\n.md") == "half\\ud800 caf\\xe9\\n.md"


def test_of_two_names_that_are_equal_in_normal_form_c_the_second_is_a_problem(tmp_path: Path) -> None:
    make_tree(tmp_path, "e\u0301.md", "\u00e9.md")
    found, problems = walk(tmp_path, DEFAULTS)
    assert [(file.path, Path(file.full_path).name) for file in found] == [("\u00e9.md", "e\u0301.md")]
    assert problems == [FileProblem("\u00e9.md", "another file has the same name in Unicode normal form C")]


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_tree(tmp_path, "a.md"))
    for _ in range(20):  # deeper than any system call accepts, whoever asks
        Path("d" * 250).mkdir()
        os.chdir("d" * 250)
    found, (problem,) = walk(tmp_path, DEFAULTS)
    assert [file.path for file in found] == ["a.md"]
    assert problem.reason == "cannot be listed: File name too long"
    os.chdir(tmp_path)
    shutil.rmtree("d" * 250)


def test_a_root_that_is_not_a_folder_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    for root in (tmp_path / "gone", make_tree(tmp_path, "file") / "file"):
        with pytest.raises(UsageError, match="cannot be listed"):
            walk(root, DEFAULTS)


@pytest.mark.parametrize(
    "under", ["a", "a/", "./a/b", "a/b/c.md", "a/no.txt", "dist", "gone", "a/b/c.md/x", "x.md"]
)
def test_a_part_of_the_root_gives_that_part_of_the_whole_walk(tmp_path: Path, under: str) -> None:
    make_tree(tmp_path, "x.md", "a/b/c.md", "a/b/no.txt", "a/no.txt", "a/d.md", "ab/e.md", "dist/f.md")
    (tmp_path / ".gitignore").write_text("*.txt\n")
    (tmp_path / "a/.gitignore").write_text("/d.md\n")
    name = under.removeprefix("./").rstrip("/")
    whole = [path for path in walked_paths(tmp_path) if path == name or path.startswith(name + "/")]
    assert walked_paths(tmp_path, under=under) == whole


def test_a_part_is_found_by_its_composed_name_however_the_disk_spells_it(tmp_path: Path) -> None:
    make_tree(tmp_path, "e\u0301/a.md")
    assert walked_paths(tmp_path, under="\u00e9") == ["\u00e9/a.md"]
    assert [file.path for file in walk(tmp_path, DEFAULTS, only=["\u00e9/a.md"])[0]] == ["\u00e9/a.md"]


@pytest.mark.parametrize("path", ["..", "a/../../b", "/etc/passwd"])
def test_a_part_outside_the_root_is_a_usage_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="not a path inside the root"):
        walk(tmp_path, DEFAULTS, under=path)
    with pytest.raises(UsageError, match="not a path inside the root"):
        walk(tmp_path, DEFAULTS, only=[path])


def test_files_that_are_named_are_taken_in_spite_of_the_ignore_rules(tmp_path: Path) -> None:
    make_tree(tmp_path, "a.txt", "dist/b.js", "c.md")
    (tmp_path / ".gitignore").write_text("*.txt\n")
    found, problems = walk(tmp_path, Settings(exclude=("*.js",)), only=["dist/b.js", "a.txt", "a.txt"])
    assert ([file.path for file in found], problems) == (["a.txt", "dist/b.js"], [])


def test_a_named_file_that_cannot_be_taken_is_a_problem(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "root", "sub/a.md", ".git/config")
    make_tree(tmp_path, "secret.md")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "up").symlink_to(tmp_path)
    (root / "large.md").write_text("12345")
    names = ["gone.md", "sub", "link.md", "up/secret.md", "large.md", ".git/config"]
    found, problems = walk(root, Settings(max_file_bytes=4), only=names)
    assert found == []
    assert problems == [
        FileProblem(".git/config", "is part of version control or of an index"),
        FileProblem("gone.md", "cannot be read: No such file or directory"),
        FileProblem("large.md", "larger than 4 bytes (5); raise max_file_bytes to index it"),
        FileProblem("link.md", "not a regular file"),
        FileProblem("sub", "not a regular file"),
        FileProblem("up/secret.md", "lies behind a symbolic link or a file"),
    ]
