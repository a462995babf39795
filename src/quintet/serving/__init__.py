"""What both servers share: the open index, warm-up, background embedding, keys."""
