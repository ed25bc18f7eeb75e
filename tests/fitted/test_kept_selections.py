"""Selections are kept by ids, and what is no selection is refused."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.kept_selections import FILE, kept_of, read_selections, write_selections


def test_written_is_read_and_named_in_queries(general, tmp_path):
    assert read_selections(tmp_path) == {}
    rows = {"person": np.array([3, 5]), "film": np.array([0]), "person.columns": np.empty(0, int)}
    kept = kept_of(general.network, "some of them", rows)
    write_selections(tmp_path, [kept])
    back = read_selections(tmp_path)
    assert back == {"some of them": kept}
    found = general.find('in:"some of them" type:person', back)
    assert found.rows["person"].tolist() == [3, 5]
    assert not len(found.rows["film"])
    assert len(general.find('-in:"some of them" type:person', back)) == 58
    with pytest.raises(InputError, match="there is no selection 'some'; known: some of them"):
        general.find("in:some", back)


def test_nothing_or_no_name_is_not_kept(general):
    some = {"person": np.array([3])}
    for name in ("", " a", "a\nb", "x" * 81):
        with pytest.raises(InputError, match="needs a name"):
            kept_of(general.network, name, some)
    with pytest.raises(InputError, match="would be empty"):
        kept_of(general.network, "a", {"person": np.empty(0, int)})


@pytest.mark.parametrize("text", ["", "[]", '{"format": "else"}', '{"format": "coembed selections"}'])
def test_a_broken_file_is_told(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputError, match="cannot be read as selections"):
        read_selections(tmp_path)
