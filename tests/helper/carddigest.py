"""The digest of a card as pale-control(5) has it, by a client of our own."""

import hashlib
import json

# What an answer proves to have read, as pale-control(5) lists it.
CARD_MEMBERS = ("agent", "argv", "askers", "branch", "cwd", "env", "exe", "file", "id", "needs", "offers", "op", "pid",
    "risk", "rule", "sends", "session",
                "stepup", "target", "to", "tree")


def card_digest(card):
    shown = {k: card[k] for k in CARD_MEMBERS if k in card}
    return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":"),
        ensure_ascii=False).encode()).hexdigest()
