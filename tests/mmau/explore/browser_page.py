"""A report page that is open in a browser."""

from typing import Any

from tests.browser_page import BrowserPage


class Opened(BrowserPage):
    """A report: its table and its plot."""

    def drawn(self) -> dict[str, dict[str, Any]]:
        """Points in the plot, by name: x, y, symbol, size."""
        return dict(self.page.evaluate(_DRAWN))

    def names(self) -> list[str]:
        """The names of the table's rows."""
        return list(self.page.locator("#table tbody button.name").all_text_contents())

    def column(self, key: str) -> list[str]:
        """The table's texts under one heading."""
        keys = self.page.locator("#table thead th").evaluate_all("all => all.map((each) => each.dataset.key)")
        place = keys.index(key) + 1
        return list(self.page.locator(f"#table tbody tr > :nth-child({place})").all_text_contents())

    def choose(self, select: str, key: str) -> None:
        self.page.select_option(select, key)


_DRAWN = """() => document.getElementById("plot").data.flatMap((trace) => (trace.customdata || []).map((number, at) => [
  POINTS[number].name, { x: trace.x[at], y: trace.y[at], symbol: trace.marker.symbol[at], size: trace.marker.size[at] }]))
  .reduce((all, [name, value]) => ({ ...all, [name]: value }), {})"""
