"""What holds for all tests."""

import pytest

from hiaton.function import errors


@pytest.fixture(autouse=True)
def defects_are_raised(monkeypatch):
    """Users get plain Python in place of a conversion that fails by a defect; tests get its error."""
    monkeypatch.setattr(errors, "of_defect", lambda error: error)
