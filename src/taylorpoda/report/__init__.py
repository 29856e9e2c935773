"""Explanations as a page: one HTML file that needs nothing else and runs nothing."""

from __future__ import annotations

from taylorpoda.report.page import page, write_html
from taylorpoda.report.utility_table import UtilityTable, utility_table

__all__ = ["UtilityTable", "page", "utility_table", "write_html"]
