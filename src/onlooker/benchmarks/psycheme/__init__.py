"""PsycheMME: social understanding from grounding to response, with answers verified by their
rationale.
"""
