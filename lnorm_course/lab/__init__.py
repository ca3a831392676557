"""Between the lessons and JupyterLab: a student's own copy of them, and what saving one keeps."""
