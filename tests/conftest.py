"""What every test can use: Hypothesis profiles and the recorded data beside a checkout."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# No deadlines: a loaded machine is no failure. `make test` uses ci, `make nightly` nightly;
# --hypothesis-profile chooses another.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=2_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dev")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recorded chat and redaction cases, which is not part of the repository.

    It is named by TURNFOLD_SHARED or lies beside the checkout as `shared`.
    """
    named = os.environ.get("TURNFOLD_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no recorded data: set TURNFOLD_SHARED to its folder")
    return folder
