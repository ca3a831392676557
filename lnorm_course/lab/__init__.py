"""Connects the lessons to JupyterLab: a student's own copy of them, and what saving one stores."""
