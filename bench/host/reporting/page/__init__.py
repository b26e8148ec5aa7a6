"""Makes the page of a report: its content as JSON, and the template, style and scripts that show it."""
