"""The lessons in JupyterLab: a student's own copy of them, and what is stored with a notebook."""
