"""Words of the glossary, linked where a page uses them first."""

from docutils import nodes
from docutils.core import publish_doctree

from lnorm_utils.web.words import _link_first_uses

PAGE = """
Which rows share a mean?
========================

- compute the variance of a row

Variance of a row
-----------------

``variance`` and `a link of variance <there>`_ and Rows, and a *biased variance*, not covariance.
A variance, a row, and a pre-LN branch. The batch
norm and the batch norm. Batch is another. In blocks of rows, a block has others.

=====  ===
block  row
=====  ===

**References.** A branch.

.. _there: https://example.org
"""


def test_the_first_use_in_prose_is_linked_and_no_other():
    tree = publish_doctree(PAGE, settings_overrides={"doctitle_xform": False})
    before = tree.astext()
    words = ("variance", "row", "pre-LN", "branch", "batch norm", "batch", "block")
    _link_first_uses(tree, {word: (f"about {word}", "glossary.html#") for word in words})
    linked = [node for node in tree.findall(nodes.reference) if "lnorm-word" in node["classes"]]
    assert [node.astext() for node in linked] == [
        *("Rows", "variance", "pre-LN", "branch"),
        *("batch\nnorm", "Batch"),
    ]
    assert linked[0]["refuri"] == "glossary.html#word-row"
    assert linked[0]["reftitle"] == "about row"
    assert linked[1].parent.astext() == "biased variance"
    assert tree.astext() == before
