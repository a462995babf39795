"""PDF, page by page."""
