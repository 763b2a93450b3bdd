"""The sample report, made once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.report.content import ReportContent
from onlooker.report.page import write_report
from tests.report.awkward import awkward_content
from tests.report.sample import sample_content


@pytest.fixture(scope="session")
def content() -> ReportContent:
    """What the sample report says."""
    return sample_content()


@pytest.fixture(scope="session")
def page_path(content: ReportContent, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(content, path)
    return path


@pytest.fixture(scope="session")
def page(page_path: Path) -> str:
    """The text of the sample report."""
    return page_path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def awkward_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report that strains the layout, as a file."""
    path = tmp_path_factory.mktemp("awkward") / "report.html"
    write_report(awkward_content(), path)
    return path
