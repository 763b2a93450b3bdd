"""The engine that asks: a plan of items, conditions and seeds becomes a ledger of calls and its JSONL export."""
