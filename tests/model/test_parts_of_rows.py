"""Parts of the rows, each forgotten and worked out again, give the loss and the gradients of the whole."""

import pytest
import torch

from coembed.kernels import Noise
from coembed.model import row_chunks, scan
from coembed.settings import preset_settings


def loss_and_gradients(network, **changes):
    settings = preset_settings(precision="float64", input_dropout=0.3, **changes)
    torch.manual_seed(0)
    model = scan(network, settings)
    loss = model(Noise(2))
    loss.total.backward()
    found = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
    with torch.no_grad():
        found["codes"] = model.mean_codes("node")[0]
    return {"loss": loss.total.detach(), **loss.parts, **found}


def memory_for(remembered, n_items):
    return 3 * (row_chunks.NEEDED * n_items + row_chunks.REMEMBERED * remembered)


@pytest.mark.parametrize(
    ("changes", "remembered"), [({}, 0), ({}, 200), ({}, 400), ({"labels": "exact"}, 200)]
)
def test_parts_of_the_rows_are_the_whole(part_of_demo, changes, remembered, monkeypatch):
    size = part_of_demo.n_nodes
    changes = {"rank": 16, **changes}
    whole = loss_and_gradients(part_of_demo, **changes)
    monkeypatch.setattr(row_chunks, "WHOLE", 100)
    monkeypatch.setattr(row_chunks, "PART", 16)
    monkeypatch.setattr(row_chunks, "MEMORY", memory_for(remembered, size))
    assert row_chunks.first_remembered(size) == size - remembered
    assert len(row_chunks.row_parts(size)) > 20
    by_parts = loss_and_gradients(part_of_demo, **changes)
    assert whole.keys() == by_parts.keys()
    for name, expected in whole.items():
        torch.testing.assert_close(by_parts[name], expected, rtol=1e-9, atol=1e-12, msg=name)


def test_what_is_worked_out_again_leaves_the_same_units_out(part_of_demo, monkeypatch):
    monkeypatch.setattr(row_chunks, "WHOLE", 100)
    monkeypatch.setattr(row_chunks, "PART", 64)
    monkeypatch.setattr(row_chunks, "MEMORY", 0.0)
    # a sample's parabola moves with the codes, which is no part of the slope
    settings = preset_settings(
        precision="float64", rank=8, dropout=0.5, encoder_dropout=0.5, all_pairs="exact"
    )
    torch.manual_seed(0)
    model = scan(part_of_demo, settings)
    weight = model.inference["node"].second.weight
    direction = torch.randn(weight.shape, dtype=weight.dtype, generator=torch.Generator().manual_seed(3))

    def loss(step):
        with torch.no_grad():
            weight.add_(direction, alpha=step)
        total = model(Noise(2)).total
        with torch.no_grad():
            weight.sub_(direction, alpha=step)
        return total

    slope = (loss(1e-6) - loss(-1e-6)).detach() / 2e-6
    model.zero_grad()
    loss(0.0).backward()
    torch.testing.assert_close((weight.grad * direction).sum(), slope, rtol=1e-6, atol=1e-9)
