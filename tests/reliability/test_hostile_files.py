"""Files that once crashed, hung, filled the memory or were misread: refused in a sentence, or read right."""

import re

import pytest
from guarded import Guarded
from hostile_files import MADE

EXPECTED = {
    "mat_with_a_position_far_outside": "refused: .*leave the 3 columns",
    "mat_with_a_negative_position": "refused: .*leave the 3 columns",
    "mat_with_row_ends_out_of_order": "refused: .*row ends",
    "mat_with_a_billion_rows": "refused: .*3 columns of Network for 1000000000 nodes",
    "mat_of_version_4_with_negative_sizes": "refused: .*header of it is damaged",
    "mat_of_cells": "refused: .*Network is not a matrix of real numbers",
    "mat_with_not_a_number_among_one_hot_labels": "refused: .*NaN",
    "mat_with_an_infinite_label": "refused: .*class inf is not a whole number",
    "mat_with_a_label_beyond_whole_numbers": "refused: .*class 1e\\+19 is not a whole number",
    "npz_with_a_billion_attributes": "refused: .*1,073,741,824 attributes, but 0 entries",
    "npz_with_names_of_a_gigabyte": "refused: .*node_names claims 2 entries",
    "npz_with_a_huge_array_that_nobody_needs": "read: 2 nodes 1 links",
    "npz_that_unpacks_to_gigabytes": "refused: .*unpacks to",
    "npz_with_fractions_for_positions": "refused: .*not whole numbers",
    "npz_with_fractions_for_row_ends": "refused: .*not whole numbers",
    "npz_with_names_as_bytes": "read: .*'ann', 'bøb'",
    "npz_with_names_in_rows": "refused: .*must be a list of texts",
    "npz_with_a_single_name": "refused: .*must be a list of texts",
    "npz_with_a_label_of_2_to_the_60": "refused: .*classes, but 2 entries",
    "npz_with_a_label_of_2_to_the_63": "refused: .*classes, but 2 entries",
    "npz_with_a_weight_that_vanishes": "read: 2 nodes 0 links .*2 value\\(s\\) closer to zero",
    "npz_with_complex_weights": "refused: .*adj_data numbers",
    "npz_of_names_that_end_in_nul": r"read: 2 nodes .*'a\\x00', 'a'",
    "npz_of_a_long_name_among_many": "read: True",
    "csv_with_a_quote_that_is_not_closed": "refused: .*quote",
    "csv_with_a_quote_that_another_closes": "refused: .*quote",
    "csv_of_items_with_a_quote_that_is_not_closed": "refused: .*quote",
    "csv_of_items_with_line_ends_in_quotes": "read: 9 people",
    "streamed_csv_with_a_quote_that_is_not_closed": "refused: .*quote",
    "csv_with_a_weight_that_vanishes": "read: .*1 value\\(s\\) closer to zero",
    "gzip_bomb": "refused: .*unpacks to",
    "bzip2_bomb_of_one_line": "refused: .*unpacks to",
    "scan_text_of_a_billion_nodes": "refused: .*1,000,000,000 items, but 1 entries",
    "scan_text_of_a_billion_nodes_without_edges": "refused: .*1,000,000,000 nodes, but 0 entries",
    "scan_text_that_announces_no_edges_and_lists_some": "read: 3 nodes 2 links .*announces 0 edges, lists 2",
    "scan_text_with_a_count_of_5000_digits": "refused: .*expected a count",
    "scan_label_of_1e19": "refused: .*class 1e\\+19",
    "scan_label_of_2_to_the_53_and_1": "refused: .*below 2\\^53",
    "pickle_with_a_huge_number_for_a_part": "refused: .*more parts than it has bytes",
    "pickle_with_a_text_of_a_terabyte": "refused: .*only 2 remain",
    "pickle_that_copies_one_array_again_and_again": "refused: .*dictionary of lists",
    "pickle_that_lists_one_list_again_and_again": "refused: .*unpacks to",
    "pickle_with_a_trillion_columns": "refused: .*columns, but 0 entries",
    "pickle_with_fractions_for_nodes": "refused: .*not whole numbers",
    "pickle_with_not_a_number_among_labels": "refused: .*NaN",
    "pickle_with_a_sparse_matrix_of_fractions": "refused: .*not whole numbers",
    "parquet_of_a_million_rows_in_a_kilobyte": "refused: .*unpacks to",
    "parquet_of_one_long_text_in_many_rows": "refused: .*unpacks to",
    "parquet_with_bad_utf8": "refused: ",
    "the_empty_path": "refused: the path is empty",
    "a_path_of_5000_characters": "refused: .*File name too long",
    "a_path_with_a_line_end": "refused: no such file does not exist",
    "a_pipe": "refused: .*neither a file nor a folder",
    "a_device_that_never_ends": "refused: .*neither a file nor a folder",
}


@pytest.fixture(scope="module")
def tried():
    with Guarded("hostile_files.try_case", memory=3 << 30) as guarded:
        yield guarded


def test_every_case_is_expected():
    assert set(EXPECTED) == set(MADE)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_hostile_file_is_refused_or_read_right(tried, name):
    said = tried(name)
    assert re.match(EXPECTED[name], said), said
