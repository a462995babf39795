"""The path of a file says what it is for."""

import pytest

from quintet.model.roles import role_of


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
        ("Tests/ShopTests/StoreTests.swift", "test"),
        ("app/StoreTests.swift", "test"),
        ("app/StoreTest.kt", "test"),
        ("src/androidTest/kotlin/Store.kt", "test"),
        ("shop/StoreSpec.scala", "test"),
        ("shop/StoreSuite.scala", "test"),
        ("shop/Suite.scala", "source"),
        ("lib/store_test.exs", "test"),
        ("store_spec.lua", "test"),
        ("src/StoreSpec.hs", "test"),
        ("src/Latest/Store.kt", "source"),
        ("examples/run.py", "example"),
        ("bench/speed.py", "example"),
        ("docs/guide.md", "docs"),
        ("README.md", "docs"),
        ("CHANGELOG.md", "changelog"),
        ("docs/changes.rst", "changelog"),
        ("docs/versionhistory.rst", "changelog"),
        ("CHANGES-1.2.md", "changelog"),
        ("release_notes.txt", "changelog"),
        ("src/history.py", "source"),
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
