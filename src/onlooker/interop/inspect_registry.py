"""What Inspect finds by the entry point ``inspect_ai``: our tasks, the solver that asks and the scorer."""

from onlooker.interop.inspect_scoring import graded
from onlooker.interop.inspect_tasks import any_family, ask, mmhbench, psycheme, reactionbench, siv_bench

__all__ = ["any_family", "ask", "graded", "mmhbench", "psycheme", "reactionbench", "siv_bench"]
