"""What a dialect is: the configuration language of one network operating system, and all that is known of it.

Everything else speaks of switches of the fabric model. A dialect says how to recognize a configuration and what switch
it makes, what of it the system refuses or leaves without effect, which rules cannot apply to it and why, and in which
words its operators would say what a rule found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words


class Dialect(NamedTuple):
    """One configuration language.

    ``recognizes`` tells its texts, ``recognizes_data`` what a YAML file of it holds. ``document`` reads a text, and
    ``read`` makes the switch of a document; its second argument names the DSCPs that must be lossless.
    ``not_applicable`` are the codes of rules of fabrics that cannot say anything here, with why; ``words`` are by code.
    ``in_json``: what it recognizes may stand in a JSON file too.
    """

    recognizes: Callable[[str], bool]
    recognizes_data: Callable[[Mapping[object, object]], bool]
    document: Callable[[str, str], Document]
    read: Callable[[Document, tuple[int, ...]], ReadSwitch]
    not_applicable: Mapping[str, str]
    words: Mapping[str, Words]
    in_json: bool = False
