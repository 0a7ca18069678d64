"""A page that is open in a browser."""

from pathlib import Path
from typing import Any


class BrowserPage:
    """A page, with its messages and its requests."""

    def __init__(self, browser: Any, file: Path, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = file.as_uri()
        self.page.goto(self.url)

    def finish(self) -> None:
        """There was no message, and no request but for the page itself."""
        assert self.messages == []
        assert self.requests == [self.url]
        self.context.close()
