"""Where readers get the course."""

from project import PROJECT

from lnorm_staff.web.getting import addressed


def test_a_first_cell_elsewhere_installs_from_the_address_of_the_repository():
    page = (PROJECT / "docs/troubleshooting.md").read_text("utf-8")
    assert addressed(page, "") == page
    address = "https://github.com/you/layer-norm"
    assert f'repository = "{address}"\n%pip install' in addressed(page, address)
