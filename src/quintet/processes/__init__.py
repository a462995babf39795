"""Quintet's child processes: start them, exchange messages, end them."""
