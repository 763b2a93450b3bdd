"""An HTML page as a tree, with the standard library's parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_BLOCKS = {"td", "th", "dt", "dd", "li", "p", "summary"}
_VOID = {"meta", "link", "input", "br", "img", "hr", "wbr"}


@dataclass
class Node:
    """An element: ``children`` are elements and texts in order."""

    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def all(self, *tags: str) -> Iterator[Node]:
        """Every element below of one of these tags, in document order."""
        for child in self.children:
            if isinstance(child, Node):
                if child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def text(self) -> str:
        """All text below, blanks as in the source, and one after each cell, term or paragraph."""
        pieces = (c if isinstance(c, str) else c.text() for c in self.children)
        return "".join(pieces) + (" " if self.tag in _BLOCKS else "")

    def words(self) -> str:
        """All text below, blanks made single."""
        return " ".join(self.text().split())

    def by_id(self, name: str) -> Node:
        """The element of that id."""
        return next(n for n in self.everything() if n.attributes.get("id") == name)

    def of_class(self, name: str) -> Iterator[Node]:
        """Every element below that has the class."""
        return (n for n in self.everything() if name in n.attributes.get("class", "").split())

    def everything(self) -> Iterator[Node]:
        """Every element below."""
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.everything()


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(page: str) -> Node:
    """The page's tree. Fails on an element that is not closed where it should be."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.open == [builder.root], "an element is left open"
    return builder.root
