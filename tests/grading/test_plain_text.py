"""Text of a student says nothing about the machine, stays short, and moves no cursor."""

from pathlib import Path

from exercise_banks import BANK

from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, MOST_OF_AN_ERROR, one_line


def test_folders_of_this_machine_are_taken_out_and_nothing_else():
    assert one_line(f"'{Path(__file__).parents[2]}/a.py', line 3") == "'…/a.py', line 3"
    assert one_line(f"No such file: '{Path.home()}/exam.csv'") == "No such file: '…/exam.csv'"
    assert one_line("1 / 0 and a/b/c, (3/4)") == "1 / 0 and a/b/c, (3/4)"


def test_what_a_terminal_obeys_is_replaced_and_a_long_text_is_cut():
    assert one_line("a\n \x1b[2K") == "a �[2K"
    assert len(one_line("a" * 10**6)) == MOST_OF_AN_ERROR


def test_no_sentence_of_a_bank_is_changed():
    for exercise in (e for bank in BANK.values() for e in bank.values()):
        lists = (getattr(exercise, name, []) for name in ("answers", "wrong", "mistakes"))
        for sentence in (known.why for each in lists for known in each):
            assert one_line(sentence, MOST_OF_A_MESSAGE) == " ".join(sentence.split())
