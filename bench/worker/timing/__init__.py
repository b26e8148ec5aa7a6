"""Times a program's steps, and prevents what would falsify the times."""
