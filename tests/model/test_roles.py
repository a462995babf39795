"""The path of a file says what it is for."""

import pytest

from quintet.model.roles import role_of, superseded


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/app.py", "source"),
        ("src/contest.py", "source"),
        ("lib/latest.js", "source"),
        ("src/history/store.py", "source"),
        ("tests/test_app.py", "test"),
        ("pkg/app_test.go", "test"),
        ("src/test/java/com/AppTest.java", "test"),
        ("src/app.spec.ts", "test"),
        ("conftest.py", "test"),
        ("examples/run.py", "example"),
        ("bench/speed.py", "example"),
        ("docs/guide.md", "docs"),
        ("README.md", "docs"),
        ("CHANGELOG.md", "changelog"),
        ("docs/changes.rst", "changelog"),
        ("vendor/lib/a.go", "vendored"),
        ("node_modules/x/index.js", "vendored"),
        ("setup.py", "build"),
        ("docs/conf.py", "build"),
        ("api/service_pb2.py", "generated"),
        ("static/app.min.js", "generated"),
        ("pkg/deprecated/parse.py", "superseded"),
        ("src/legacy/parse.py", "superseded"),
        ("src/undeprecated.py", "source"),
    ],
)
def test_the_path_decides(path: str, role: str) -> None:
    assert role_of(path) == role


def test_a_folder_of_a_newer_version_beside_it_makes_a_folder_old() -> None:
    paths = ["src/v3/types.ts", "src/v4/core/schemas.ts", "src/v4/mini/schemas.ts", "src/index.ts"]
    assert superseded(paths) == {"src/v3/types.ts"}
    assert superseded(["V1/a.go", "V10/a.go", "V9/a.go"]) == {"V1/a.go", "V9/a.go"}, "by number"
    assert superseded(["a/v1/x.py", "b/v2/x.py"]) == set(), "not beside each other"


def test_a_copy_in_a_version_folder_is_old_if_the_file_also_stands_outside() -> None:
    assert superseded(["pkg/v1/main.py", "pkg/main.py", "pkg/v1/other.py"]) == {"pkg/v1/main.py"}
    assert superseded(["api/v1/main.py"]) == set(), "nothing newer is there"


def test_a_version_that_is_asked_for_is_not_old() -> None:
    paths = ["src/v3/a.ts", "src/v4/a.ts", "src/v2/a.ts"]
    assert superseded(paths, wanted=[3]) == {"src/v2/a.ts"}
