"""What the image has, and what starts in it, on a cluster, and on one machine."""

import json
import re

import yaml
from project import PROJECT

DOCKERFILE = (PROJECT / "deploy" / "Dockerfile").read_text("utf-8")
STUDENT = yaml.safe_load((PROJECT / "deploy" / "values.yaml").read_text("utf-8"))["singleuser"]


def test_what_the_image_copies_is_there_and_is_not_ignored():
    kept = re.findall(r"^!(.+)$", (PROJECT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    names = " ".join(re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)).split()
    assert sorted(names) == sorted(kept)
    assert all((PROJECT / name).exists() for name in names)


def test_a_student_s_server_starts_in_the_same_way_everywhere():
    command = STUDENT["cmd"]
    assert json.loads(re.search("^CMD (.+)$", DOCKERFILE, re.MULTILINE)[1]) == command
    config = (PROJECT / "deploy" / "jupyterhub_config.py").read_text("utf-8")
    assert json.dumps(command[1:])[1:-1] in config
    assert f"\nWORKDIR {STUDENT['storage']['homeMountPath']}\n" in DOCKERFILE
