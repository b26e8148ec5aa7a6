"""Write tables in one form each: any table as Markdown, LaTeX, CSV or text, and those that only a paper has."""
