"""Single rows of CONFIG_DB as SONiC's daemons take them: numbers as C++ reads them, the object or fate of each row.

``std::stoi`` and its kin skip blanks, take a sign and stop at the first character that is no digit, so ``819,200`` is
819 and ``0xC8000`` is 0; narrower types keep the low bits. ``to_uint`` of swss-common (common/converter.h @85a39d8)
takes a prefix ``0x`` or ``0`` for the base, and the whole text.

Sources: sonic-swss orchagent/qosorch.cpp, bufferorch.cpp, port/porthlpr.cpp @e6b0c5b; what is mandatory of an object is
checked by `sonic-sairedis` meta/Meta.cpp @eb21195.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from lossless.ground.basics.records import NamedTuple, Record

_BLANKS = " \t\n\v\f\r"
_DIGITS = "0123456789abcdefABCDEF"
_MOST_DIGITS = 22
"""More than any number of 64 bits has: a text of more digits is out of range."""
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
UINT64 = 2**64


def _leading(text: str) -> int | None:
    """Return the number at the beginning of a text, after blanks and a sign; None if there is none."""
    if text.isascii() and text.isdecimal():
        return int(text) if len(text) <= _MOST_DIGITS else UINT64 * 10
    bare = text.lstrip(_BLANKS)
    start = 1 if bare[:1] in ("+", "-") else 0
    end = start
    while end < len(bare) and bare[end] in _DIGITS[:10]:
        end += 1
    return int(bare[:end][:_MOST_DIGITS]) if end > start else None


@lru_cache(maxsize=4096)
def stoi(text: str) -> int | None:
    """Return the result of ``std::stoi``, None if it throws."""
    value = _leading(text)
    return value if value is not None and value in _INT32 else None


@lru_cache(maxsize=4096)
def stoul(text: str) -> int | None:
    """Return the result of ``std::stoul`` of 64 bits, None if it throws; a negative number wraps around."""
    value = _leading(text)
    return value % UINT64 if value is not None and abs(value) < UINT64 else None


@lru_cache(maxsize=4096)
def stol(text: str) -> int | None:
    """Return the result of ``std::stol`` of 64 bits, None if it throws."""
    value = _leading(text)
    return value if value is not None and value in _INT64 else None


@lru_cache(maxsize=4096)
def to_uint(text: str, low: int, high: int) -> int | None:
    """Return the result of ``swss::to_uint``, None if it throws or the number is out of range."""
    if text.isascii() and text.isdecimal() and text[0] != "0" and len(text) < _MOST_DIGITS:
        return value if low <= (value := int(text)) <= high else None
    bare = text.lstrip(_BLANKS)
    sign, digits = (bare[0], bare[1:]) if bare[:1] in ("+", "-") else ("", bare)
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[:1] == "0" else 10
    rest = digits[2:] if base == 16 else digits
    if not rest or rest.strip(_DIGITS[:base] if base < 16 else _DIGITS):
        return None
    value = int(digits, base)
    value = -value % UINT64 if sign == "-" else value
    return value if low <= value <= high else None


def unsigned8(value: int) -> int:
    """Return a number as ``uint8_t`` keeps it."""
    return value & 0xFF


def signed8(value: int) -> int:
    """Return a number as ``int8_t`` keeps it."""
    return (value + 128) % 256 - 128


def tokens(text: str, mark: str) -> list[str]:
    """Return the parts of a text as ``swss::tokenize`` does: none of an empty text, none after a last delimiter."""
    if mark not in text:
        return [text] if text else []
    parts = text.split(mark)
    return parts[:-1] if parts[-1] == "" else parts


@lru_cache(maxsize=4096)
def index_range(text: str) -> range | Literal["throws"] | None:
    """Return the queue or group numbers of a key (``3-4``), ``throws`` if reading it does, None if it is refused.

    Source: sonic-swss orchagent/orch.cpp @e6b0c5b, parseIndexRange.
    """
    parts = tokens(text, "-") if "-" in text else [text]
    if "-" in text and len(parts) != 2:
        return None
    low, high = stoul(parts[0]), stoul(parts[-1])
    if low is None or high is None:
        return "throws"
    if len(parts) == 2 and low % 2**32 >= high % 2**32:
        return None
    return range(low % 2**32, high % 2**32 + 1)


Fields = Mapping[str, str]
EMPTY_ROW: Fields = {"NULL": "NULL"}
"""A row without fields as redis has it (sonic-py-swsssdk src/swsssdk/configdb.py @0589283, typed_to_raw)."""


class Fate(NamedTuple):
    """The outcome for a row of CONFIG_DB that the daemons do not apply.

    ``throws``: reading it raises an exception; up to release 202511 that ends orchagent, later the row and all rows of
    its table behind it wait. ``behind``: such a row is before it, or anywhere in a table of the buffers of groups or
    queues, which are bound all at once. ``waits``: an object that it needs is not there. ``refused``: it is dropped.
    ``field`` is the field with the cause, ``value`` its text, and ``on`` the table and key of the row that it waits
    for, stands behind, or fails with.
    """

    kind: Literal["throws", "behind", "waits", "refused"]
    field: str = ""
    value: str = ""
    on: tuple[str, str] | None = None


def _throws(field: str, value: str) -> Fate:
    return Fate("throws", field, value)


def _refused(field: str, value: str = "") -> Fate:
    return Fate("refused", field, value)


IndexTargets = Mapping[int, int]


def index_targets(fields: Fields) -> IndexTargets | Fate:
    """Return a QoS map as it is programmed, or its row's fate: throwing over a text that is no number.

    Numbers keep their low eight bits, and a later entry replaces an earlier.
    """
    targets = {}
    for index_text, target_text in fields.items():
        index, target = stoi(index_text), stoi(target_text)
        if index is None or target is None:
            return _throws(index_text, target_text)
        targets[unsigned8(index)] = unsigned8(target)
    return targets


def dot1p_targets(fields: Fields) -> IndexTargets | Fate:
    """Return a map of 802.1p priorities to traffic classes; entries that are no numbers are left out."""
    read = ((stoi(index), stoi(target)) for index, target in fields.items())
    return {unsigned8(i): unsigned8(t) for i, t in read if i is not None and t is not None}


def rewritten_dscps(fields: Fields) -> IndexTargets | Fate:
    """Return a map of traffic classes to DSCPs; with an entry that is no number, or no DSCP, the row is dropped."""
    targets = {}
    for index_text, target_text in fields.items():
        index, target = stoi(index_text), stoi(target_text)
        if index is None or target is None or not 0 <= target <= 63:
            return _refused(index_text, target_text)
        targets[unsigned8(index)] = target
    return targets


ECN_MODES = {
    "ecn_none": "NONE",
    "ecn_green": "GREEN",
    "ecn_yellow": "YELLOW",
    "ecn_red": "RED",
    "ecn_green_yellow": "GREEN_YELLOW",
    "ecn_green_red": "GREEN_RED",
    "ecn_yellow_red": "YELLOW_RED",
    "ecn_all": "ALL",
}
COLORS = ("green", "yellow", "red")
_THRESHOLDS = frozenset(f"{color}_{end}_threshold" for color in COLORS for end in ("min", "max"))
_PROBABILITIES = frozenset(f"{color}_drop_probability" for color in COLORS)
_ENABLES = {f"wred_{color}_enable": f"{color}_enable" for color in COLORS}


class WredSettings(Record):
    """A WRED profile as it is programmed: given values by field (``green_min_threshold``), enabled colors, ECN mode."""

    given: Mapping[str, int]
    enabled: Mapping[str, bool]
    ecn: str | None

    def threshold(self, name: str) -> int:
        """Return the threshold of a field (``green_min_threshold``) in bytes, 0 where it is not given."""
        return self.given.get(name, 0)


def wred_settings(fields: Fields) -> WredSettings | Fate:
    """Return a WRED profile, or its row's fate; enabled colors without a drop probability have 100 %."""
    given: dict[str, int] = {}
    enabled: dict[str, bool] = {}
    ecn = None
    for field, text in fields.items():
        if field in _THRESHOLDS or field in _PROBABILITIES:
            value = stoi(text)
            if value is None:
                return _throws(field, text)
            given[field] = value % 2**32
        elif field in _ENABLES:
            if text not in ("true", "false"):
                return _refused(field, text)
            enabled[_ENABLES[field]] = text == "true"
        elif field == "ecn":
            if text not in ECN_MODES:
                return _throws(field, text)
            ecn = ECN_MODES[text]
        else:
            return _refused(field, text)
    for color in COLORS:
        low, high = f"{color}_min_threshold", f"{color}_max_threshold"
        if given.get(low, 0) > given.get(high, 0):
            return _refused(low if low in given else high, str(given.get(low, 0)))
        if enabled.get(f"{color}_enable"):
            given.setdefault(f"{color}_drop_probability", 100)
    return WredSettings(given, enabled, ecn)


class SchedulerSettings(Record):
    """A scheduler as it is programmed, None for values not given; rates and bursts in bytes or packets by ``meter``."""

    kind: str | None
    weight: int | None
    meter: str | None
    rates: Mapping[str, int]


_RATES = ("cir", "cbs", "pir", "pbs")


def scheduler_settings(fields: Fields) -> SchedulerSettings | Fate:
    """Return a scheduler, or its row's fate; its weight keeps the low eight bits."""
    kind = weight = meter = None
    rates = {}
    for field, text in fields.items():
        if field == "type":
            if text not in ("DWRR", "WRR", "STRICT"):
                return _refused(field, text)
            kind = text
        elif field == "weight":
            value = stoi(text)
            if value is None:
                return _throws(field, text)
            weight = unsigned8(value)
        elif field == "meter_type":
            if text not in ("packets", "bytes"):
                return _throws(field, text)
            meter = text
        elif field in _RATES:
            value = stoul(text)
            if value is None:
                return _throws(field, text)
            rates[field] = value
        else:
            return _refused(field, text)
    return SchedulerSettings(kind, weight, meter, rates)


class PoolSettings(Record):
    """A buffer pool as it is programmed; ``mode`` None: not given, which is dynamic."""

    kind: str
    size_bytes: int
    mode: str | None
    xoff_bytes: int | None


def pool_settings(fields: Fields) -> PoolSettings | Fate:
    """Return a buffer pool, or its row's fate; type and size are mandatory, and unknown fields are ignored."""
    kind = mode = size = xoff = None
    for field, text in fields.items():
        if field in ("size", "xoff"):
            value = stoul(text)
            if value is None:
                return _throws(field, text)
            size, xoff = (value, xoff) if field == "size" else (size, value)
        elif field == "type":
            if text not in ("ingress", "egress", "both"):
                return _refused(field, text)
            kind = text
        elif field == "mode":
            if text not in ("dynamic", "static"):
                return _refused(field, text)
            mode = text
    if kind is None or size is None:
        return _refused("type" if kind is None else "size")
    return PoolSettings(kind, size, mode, xoff)


class ProfileSettings(Record):
    """A buffer profile as it is programmed, sizes in bytes, None for values that are not given."""

    pool: str
    size_bytes: int
    xon_bytes: int | None
    xon_offset_bytes: int | None
    xoff_bytes: int | None
    dynamic_th: int | None
    static_th_bytes: int | None
    action: str | None

    @property
    def trims(self) -> bool:
        """Whether packets that its buffer has no room for are trimmed, not dropped."""
        return self.action == "trim"


_BYTES = frozenset({"xon", "xon_offset", "xoff", "size", "static_th"})


def profile_settings(fields: Fields, pools: Mapping[str, PoolSettings]) -> ProfileSettings | Fate:
    """Return a buffer profile, or the ``Fate`` of its row; pool, size and exactly one threshold are mandatory."""
    given: dict[str, int] = {}
    pool, action = "", None
    for field, text in fields.items():
        if field == "pool":
            if fate := unresolved(field, text, "BUFFER_POOL", pools):
                return fate
            pool = text
        elif field in _BYTES or field == "dynamic_th":
            value = stol(text) if field == "dynamic_th" else stoul(text)
            if value is None:
                return _throws(field, text)
            given[field] = value
        elif field == "packet_discard_action":
            if text not in ("drop", "trim"):
                return _refused(field, text)
            action = text
    if not pool or "size" not in given:
        return _refused("pool" if not pool else "size")
    dynamic = given.get("dynamic_th")
    if (dynamic is None) is (given.get("static_th") is None):
        return _refused("dynamic_th" if dynamic is None else "static_th")
    return ProfileSettings(
        pool,
        given["size"],
        given.get("xon"),
        given.get("xon_offset"),
        given.get("xoff"),
        None if dynamic is None else signed8(dynamic),
        given.get("static_th"),
        action,
    )


def unresolved(field: str, text: str, table: str, known: Mapping[str, object]) -> Fate | None:
    """Return the fate of a row that refers to a row of another table by this name, None if that row is applied."""
    if not text:
        return _refused(field, text)
    return None if text in known else Fate("waits", field, text, (table, text))


class PortSettings(Record):
    """A port as orchagent creates it; ``asymmetric`` is asymmetric PFC, None if it is not given."""

    speed_mbps: int
    admin_up: bool
    asymmetric: bool | None


_WORDS = {
    "admin_status": ("up", "down"),
    "autoneg": ("on", "off"),
    "pfc_asym": ("on", "off"),
    "link_training": ("on", "off"),
    "fec": ("none", "rs", "fc", "auto"),
    "role": ("Ext", "Int", "Inb", "Rec", "Dpc"),
    "learn_mode": ("drop", "disable", "hardware", "cpu_trap", "cpu_log", "notification"),
}
_NUMBERS = {
    "index": (0, 2**16 - 1),
    "speed": (1, 1_600_000),
    "mtu": (68, 9216),
    "tpid": (0, 2**16 - 1),
    "subport": (0, 2**32 - 1),
}
_READ = frozenset({*_WORDS, *_NUMBERS, "lanes", "adv_speeds", "alias"})


@lru_cache(maxsize=4096)
def _is_refused(field: str, text: str) -> bool:
    """Return whether a field of PORT has a text that orchagent cannot read, which makes it drop the port."""
    if field in _WORDS:
        return text not in _WORDS[field]
    if field in _NUMBERS:
        return to_uint(text, *_NUMBERS[field]) is None
    if field == "lanes":
        if text[:1] != "0" and ",0" not in text and all(map(str.isdecimal, text.split(","))):
            return False
        return not text or any(to_uint(lane, 0, 2**32 - 1) is None for lane in tokens(text, ","))
    if field == "adv_speeds" and text != "all":
        return not text or any(to_uint(speed, 1, 1_600_000) is None for speed in tokens(text, ","))
    return field == "alias" and not text


def port_settings(fields: Fields) -> PortSettings | Fate:
    """Return a port, or its row's fate: without lanes or speed, or with a field that cannot be read, it is refused."""
    for field, text in fields.items():
        if field in _READ and _is_refused(field, text):
            return _refused(field, text)
    if "lanes" not in fields or "speed" not in fields:
        return _refused("lanes" if "lanes" not in fields else "speed")
    asymmetric = fields.get("pfc_asym")
    return PortSettings(
        to_uint(fields["speed"], 1, 1_600_000) or 0,
        fields.get("admin_status") == "up",
        None if asymmetric is None else asymmetric == "on",
    )


class WatchdogSettings(Record):
    """The PFC watchdog of a port as it is programmed; ``restoration_ms`` 0: a stormed queue is never restored."""

    detection_ms: int
    restoration_ms: int
    action: str


_HISTORY = ("enable", "disable")


def watchdog_settings(fields: Fields) -> WatchdogSettings | Fate:
    """Return the PFC watchdog of a port, or its row's fate: refused for a bad field or value, or without detection."""
    detection = restoration = 0
    action = "drop"
    for field, text in fields.items():
        wrong = False
        if field == "detection_time":
            detection = to_uint(text, 100, 5000) or 0
            wrong = not detection
        elif field == "restoration_time":
            restoration = to_uint(text, 100, 60000) or 0
            wrong = not restoration
        elif field == "action":
            action = text
            wrong = text not in ("drop", "forward", "alert")
        else:
            wrong = field != "pfc_stat_history" or text not in _HISTORY
        if wrong:
            return _refused(field, text)
    return WatchdogSettings(detection, restoration, action) if detection else _refused("detection_time")
