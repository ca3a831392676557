"""How Sphinx writes the web edition; `make site` calls it."""

from datetime import date

from lnorm_utils.version import __version__

# The address of the repository, such as "https://github.com/you/layer-norm". With it, pages have a
# link to the source and to Binder, where the lessons run without an installation, and readers get
# the course there. Without it, they download an archive that `make site` writes beside the pages.
repository = ""
# The address of the site, such as "https://you.github.io/layer-norm/". Shared links need it for
# their pictures. Add a link to the README's first lines, too.
html_baseurl = ""

project = "Layer normalization, step by step"
author = "the maintainers of lnorm-utils"
copyright = f"{date.today().year}, {author}. MIT license. Version {__version__}"  # noqa: A001 - Sphinx's name
extensions = ["myst_nb", "lnorm_staff.web.pages"]

# The lessons come with their outputs.
nb_execution_mode = "off"
nb_render_markdown_format = "myst"  # with tables
# Of code that is folded by the tag "hide-input".
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
numfig = False

html_theme = "furo"
html_title = project
html_static_path = ["static"]
templates_path = ["templates"]
html_additional_pages = {"404": "404.html"}
html_favicon = "../lnorm_staff/web/favicon.svg"
html_css_files = ["live.css"]
html_js_files = [("site.js", {"type": "module"})]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    **({"source_repository": repository, "source_branch": "main"} if repository else {}),
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#00639b"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#7cc4ee"},
}
