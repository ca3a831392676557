"""What a student has saved is there when the hub starts again; a server without use is stopped."""

import time

from class_student import PLACE, Student


def test_work_outlives_the_hub_and_a_server_without_use_does_not(seats, start_hub):
    seat = next(iter(seats.items()))
    with start_hub() as address:
        student = Student(address, *seat)
        student.arrive()
        lesson = student.api("GET", PLACE)
        lesson["content"]["cells"][-1]["source"] = "mine"
        student.api("PUT", PLACE, json=lesson)
    with start_hub(LNORM_HUB_IDLE="30") as address:
        student = Student(address, *seat)
        student.arrive()
        assert student.api("GET", PLACE)["content"]["cells"][-1]["source"] == "mine"
        end = time.monotonic() + 180
        while student.web.get(f"{student.home}/api/status").ok:
            assert time.monotonic() < end, "A server that nobody uses goes on."
            time.sleep(1)
