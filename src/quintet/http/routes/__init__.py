"""The routes. Each reads its request, makes one call and sends the answer."""
