import quintet


def test_the_public_names_are_these() -> None:
    assert sorted(quintet.__all__) == [
        "AccessError",
        "Conflict",
        "ContextSnapshot",
        "Index",
        "KnowledgeBase",
        "LimitError",
        "MissingExtra",
        "NotFound",
        "QuintetError",
        "Report",
        "Response",
        "Result",
        "StoreError",
        "UsageError",
        "__version__",
        "backup",
        "check_proof",
        "open",
        "restore",
        "rifflux",
    ]


def test_every_error_of_the_tree_has_its_own_exit_code_and_a_status() -> None:
    classes = quintet.QuintetError.__subclasses__()
    assert len({one.exit_code for one in classes}) == len(classes)
    assert all(400 <= one.http_status < 600 for one in classes)


def test_the_error_tree_is_drawn_in_the_docstring() -> None:
    from quintet import errors

    for one in quintet.QuintetError.__subclasses__():
        line = next(line for line in (errors.__doc__ or "").splitlines() if one.__name__ in line)
        assert str(one.http_status) in line
        assert f" {one.exit_code} " in line
