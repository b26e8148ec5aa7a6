"""Write any table in one form each: Markdown, LaTeX, the terminal, CSV."""
