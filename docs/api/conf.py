"""Sphinx: the reference of the Python package from its docstrings (`make api`)."""

import crossbayes

project = "crossbayes"
release = crossbayes.__version__
extensions = ["sphinx.ext.autodoc"]
html_theme = "alabaster"
html_show_copyright = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]
