"""Refusals: a function for each kind of Mentionable PolicyPart v0.1, under the specification's names.

Raise what they return (`raise refuse.forbidden("Members only.")`), or hand it to `ctx.refuse`. What would make a
part malformed (3.6) is a `ValueError` where it is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import urlsplit

from .outcomes import Refused

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE = re.compile(r"[\t \x21-\x7e\x80-\U0010ffff]*")


class Payment(TypedDict):
    """A way to pay: an entry of `accepted_payments` (3.3.3)."""

    scheme: str
    payload: dict[str, Any]


class Challenge(TypedDict, total=False):
    """A way to sign in: an entry of `auth_challenges` (3.3.1)."""

    scheme: str
    params: dict[str, str]


class More(TypedDict, total=False):
    """What any refusal may have besides (3.2)."""

    title: str
    code: str
    url: str
    action_label: str
    message_translations: Mapping[str, Mapping[str, str]]
    data: Mapping[str, Any]


def consent_required(
    message: str,
    scope: Mapping[str, Any] | None = None,
    lifetime_seconds: int | None = None,
    *,
    state: str | None = None,
    return_to: str | None = None,
    more: More | None = None,
) -> Refused:
    """A person must agree first (3.3.4). `scope` is what is agreed to, whole: other terms are another consent.

    Without `state` the host shows the page and asks the agent again, with `ctx.resolution`, once it is done. Then
    `ctx.resolution.confirmation["scope_hash"]` names what was agreed to.
    """
    if (state is None) != (return_to is None):
        raise ValueError("a consent has both `state` and `return_to`, or leaves both to the host")
    fields = {"state": state, "return_to": return_to}
    held = {"mentionable.scope": scope, "mentionable.lifetime_seconds": lifetime_seconds}
    return _part("consent_required", message, fields, more, held)


def unauthorized(message: str, challenges: Sequence[Challenge] = (), *, more: More | None = None) -> Refused:
    """Credentials are missing or wrong (3.3.1). Without challenges it is a bearer token that is asked for."""
    asked = [dict(one) for one in challenges] or [{"scheme": "Bearer"}]
    for one in asked:
        if not _is_challenge(one):
            raise ValueError(f"not a challenge that fits a header: {one!r}")
    return _part("unauthorized", message, {"auth_challenges": asked}, more)


def payment_required(
    message: str,
    accepted: Sequence[Payment],
    price: str | None = None,
    *,
    more: More | None = None,
) -> Refused:
    """It must be paid for (3.3.3), in one of the ways `accepted`, the preferred one first. `price` is for people.

    The host shows the page and asks the agent again, with `ctx.resolution`, once it is paid.
    """
    ways = [dict(way) for way in accepted]
    if not ways:
        raise ValueError("a payment needs a way to pay: `accepted` is empty")
    return _part("payment_required", message, {"accepted_payments": ways}, more, {"mentionable.price": price})


def forbidden(message: str, *, more: More | None = None) -> Refused:
    """Not for this caller."""
    return _part("forbidden", message, {}, more)


def too_many_requests(message: str, retry_after_seconds: int | None = None, *, more: More | None = None) -> Refused:
    """Too often (3.3.2)."""
    return _part("too_many_requests", message, _wait(retry_after_seconds), more)


def unavailable_for_legal_reasons(message: str, *, more: More | None = None) -> Refused:
    """A law forbids it."""
    return _part("unavailable_for_legal_reasons", message, {}, more)


def service_unavailable(message: str, retry_after_seconds: int | None = None, *, more: More | None = None) -> Refused:
    """Not now."""
    return _part("service_unavailable", message, _wait(retry_after_seconds), more)


def payment(scheme: str, payload: Mapping[str, Any]) -> Payment:
    """A way to pay, in the words of its scheme."""
    if "." not in scheme.strip("."):
        raise ValueError(f"a scheme has a namespace, such as `x402.exact`, unlike {scheme!r}")
    return {"scheme": scheme, "payload": dict(payload)}


def x402(
    *,
    network: str,
    amount: int | str,
    asset: str,
    pay_to: str,
    resource: str,
    description: str = "",
    timeout_seconds: int = 600,
    asset_name: str = "USDC",
    asset_version: str = "2",
) -> Payment:
    """A way to pay by x402, version 1. `amount` is in the smallest unit: 50000 is 0.05 of a token with 6 decimals."""
    units = str(amount)
    if not re.fullmatch(r"[1-9][0-9]*", units):
        raise ValueError(f"an amount is a whole number above 0 in the smallest unit, unlike {units!r}")
    way = {
        "scheme": "exact",
        "network": network,
        "maxAmountRequired": units,
        "resource": resource,
        "description": description,
        "mimeType": "",
        "payTo": pay_to,
        "maxTimeoutSeconds": timeout_seconds,
        "asset": asset,
        "extra": {"name": asset_name, "version": asset_version},
    }
    return payment("x402.exact", {"x402Version": 1, "error": "Payment required", "accepts": [way]})


def _is_challenge(challenge: Mapping[str, Any]) -> bool:
    params = challenge.get("params", {})
    is_each = all(_TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value) for name, value in params.items())
    is_once = len({name.lower() for name in params}) == len(params)
    return bool(_TOKEN.fullmatch(str(challenge.get("scheme", "")))) and is_each and is_once


def _wait(seconds: int | None) -> dict[str, Any]:
    if seconds is not None and seconds < 0:
        raise ValueError("`retry_after_seconds` can't be less than 0")
    return {"retry_after_seconds": seconds}


def _part(
    kind: str,
    message: str,
    fields: Mapping[str, Any],
    more: More | None,
    held: Mapping[str, Any] | None = None,
) -> Refused:
    if not message.strip():
        raise ValueError("a refusal needs a `message`")
    also: dict[str, Any] = dict(more or {})
    data = {
        **(also.pop("data", None) or {}),
        **{key: value for key, value in (held or {}).items() if value is not None},
    }
    for key in data:
        if not all(key.partition(".")[::2]):
            raise ValueError(f"a key of `data` has a prefix, such as `oauth.error`, unlike {key!r}")
    for name in ("url", "return_to"):
        url = also.get(name) or fields.get(name)
        if url is not None and (urlsplit(url).scheme != "https" or "@" in urlsplit(url).netloc):
            raise ValueError(f"`{name}` must be an https URL without user information, unlike {url!r}")
    part = {"kind": kind, "message": message, **fields, **also, **({"data": data} if data else {})}
    return Refused({key: value for key, value in part.items() if value is not None})
