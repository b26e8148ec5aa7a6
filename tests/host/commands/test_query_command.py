"""The command that answers questions: what it takes for one, and what it says to a path or another statement."""

from __future__ import annotations

import pytest
from small_project import call


@pytest.mark.parametrize("place", ["reports/small", "reports", "./reports/small", "/nowhere"])
def test_a_path_is_no_question_and_the_option_that_takes_it_is_named(measured, capsys, place):
    """It was taken for SQL, and the answer was to write the report, which was there."""
    assert call(measured, "query", place) == 2
    said = capsys.readouterr().err
    assert f"{place} is a path and no question." in said
    assert f'nox -s query -- --folder {place} "select workload, mode, speed_up from results"' in said


@pytest.mark.parametrize(
    "statement",
    [
        "drop table results",
        "delete from results",
        "insert into results select * from results",
        "create table more as select 1",
        "select 1; drop table results",
        "set threads = 1",
        "-- nothing",
    ],
)
def test_what_asks_nothing_is_refused(measured, capsys, statement):
    """The answer was a table with the heading Success, or an empty one."""
    assert call(measured, "query", statement) == 2
    said = capsys.readouterr()
    assert "This cannot be answered, as it asks nothing of the tables. Give a question" in said.err
    assert "Success" not in said.out


@pytest.mark.parametrize(
    "question",
    [
        "from results",
        "with few as (select mode from results) select * from few",
        "describe results",
        "summarize results",
        "show tables",
        "pivot results on environment using count(*) group by workload",
        "select 6/3",
        "values(1)",
    ],
)
def test_every_form_of_a_question_is_answered(measured, capsys, question):
    assert call(measured, "query", question) == 0
    assert "row" in capsys.readouterr().out
