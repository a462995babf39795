"""Long work takes turns: one tenant cannot keep out the others."""

import threading

from quintet.http.workers import Turns


def test_owners_take_turns_and_the_work_of_one_stays_in_order() -> None:
    turns, order = Turns(threads=1), []
    begun, may_end, all_done = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        may_end.wait()

    turns.add("hostile", first)
    begun.wait()
    for number in range(3):
        turns.add("hostile", lambda number=number: order.append(f"hostile {number}"))  # type: ignore[misc]
    turns.add("guest", lambda: order.append("guest"))
    turns.add("third", lambda: order.append("third"))
    turns.add("hostile", all_done.set)
    may_end.set()
    all_done.wait()
    turns.close()
    assert order == ["hostile 0", "guest", "third", "hostile 1", "hostile 2"]


def test_an_owner_never_has_two_threads() -> None:
    turns, guest_ran, release = Turns(threads=2), threading.Event(), threading.Event()
    began: list[int] = []

    def stuck(number: int) -> None:
        began.append(number)
        release.wait()

    for number in range(5):
        turns.add("hostile", lambda number=number: stuck(number))  # type: ignore[misc]
    turns.add("guest", guest_ran.set)
    guest_ran.wait()  # for ever, if the hostile one had both threads
    assert began == [0]
    release.set()
    turns.close()


def test_work_that_fails_frees_its_thread() -> None:
    turns, ran = Turns(threads=1), threading.Event()

    def broken() -> None:
        raise ZeroDivisionError

    turns.add("a", broken)
    turns.add("a", ran.set)
    ran.wait()
    turns.close()


def test_nothing_more_begins_once_it_is_closed() -> None:
    turns, order, begun, may_end = Turns(threads=1), list[str](), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        may_end.wait()
        order.append("first")

    turns.add("a", first)
    turns.add("a", lambda: order.append("second"))
    begun.wait()
    closing = threading.Thread(target=turns.close)
    closing.start()
    while not turns.closed:
        pass
    may_end.set()
    closing.join()
    assert order == ["first"]
