"""Links between pages and files outside docs/."""

from studies.site.outside import linked_sources, with_site_links


def test_links_of_the_front_page_lose_their_folder() -> None:
    text = "[a](docs/guides/models.md#top), [b](CONTRIBUTING.md), [c](https://example.org/x.md), [d](#here)"
    linked = "[a](guides/models.md#top), [b](contributing.md), [c](https://example.org/x.md), [d](#here)"
    assert with_site_links(text, "README.md") == linked


def test_links_to_sources_lead_to_their_copies() -> None:
    text = "[unit](../../examples/units/vortex-tfr.toml) and [numerics](../numerics.md)"
    assert with_site_links(text, "docs/guides/own-design.md") == text.replace("../../examples", "../sources/examples")
    assert list(linked_sources(text, "docs/guides/own-design.md")) == ["examples/units/vortex-tfr.toml"]


def test_link_to_nothing_is_left_for_the_strict_build() -> None:
    assert with_site_links("[x](../nothing.md)", "docs/guides/models.md") == "[x](../nothing.md)"
