"""Receipts: answers that can be replayed, compared and proved."""
