"""The colours of figures. These are drawn; in a page each becomes a class whose colour the style sheet sets."""

from __future__ import annotations

# After Okabe and Ito (2008), darkened until each stands 3:1 against white (WCAG 2.2, 1.4.11); the marker's
# shape tells series apart as well.
SERIES = ("#0067a5", "#b84a00", "#00775a", "#a03a78", "#7a5c00", "#54565a")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#1d2126"
MUTED = "#5a616a"
GRID = "#dcdfe3"
PAPER = "#ffffff"

CLASSES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "paper",
    **{colour: f"series{place}" for place, colour in enumerate(SERIES)},
}
