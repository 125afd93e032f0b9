"""The cases of ``crates/conformance``, told through the Python package.

A module here is a module there, and a function here is the case of that name there. ``left_out``
has the cases that Python cannot tell, with the reason.
"""
