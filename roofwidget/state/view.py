"""How a chart is shown: filters, the table, the zoom, units, and the words of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from roofwidget import wire
from roofwidget.kernels.columns import folded
from roofwidget.kernels.filters import share_above_zero, whole_from_one
from roofwidget.state.field import Field, Refused, put
from roofwidget.state.filters import (
    COLOUR_COLUMNS,
    bounds_after,
    check_bounds,
    colour_column,
    column_key,
    known_bounds,
    named_key,
    sort_key,
)
from roofwidget.state.forms import flag, language_of, names, one_of, optional, text, whole_of, zoom_limits
from roofwidget.support.languages import ENGLISH

if TYPE_CHECKING:
    from roofwidget.state.state import State

Zoom: TypeAlias = tuple[float, float, float, float]
"""``(x_low, x_high, y_low, y_high)`` in base units."""
Plane: TypeAlias = tuple[str, str]
"""A view, and the scale of its axes."""


def plane_of(view: str, time_scale: str) -> Plane:
    """Return the plane that is shown. Only the time view can have linear axes. All other views have log axes."""
    return view, time_scale if view == "time" else "log"


def check_zoom(zoom: Zoom | None, plane: Plane) -> None:
    """Raise `Refused` if the axes of the plane are logarithmic and a limit of the zoom is 0."""
    if zoom is not None and plane != ("time", "linear") and 0 in zoom:
        raise Refused(f"zoom: {zoom} starts at 0, which logarithmic axes do not have")


def _fit_zoom(s: State, zoom: Zoom | None) -> Zoom | None:
    check_zoom(zoom, plane_of(s.view, s.time_scale))
    return zoom


def _show_whole_plane(s: State, old: State, _named: Mapping[str, Any]) -> None:
    if plane_of(s.view, s.time_scale) != plane_of(old.view, old.time_scale):
        put(s, "zoom", None)


def _keep_known_bounds(s: State, _old: State, named: Mapping[str, Any]) -> None:
    if s.bounds is not None and "bounds" not in named:
        put(s, "bounds", bounds_after(s.bounds, known_bounds(s.all_chips, s.focus_chip)))


def _fit_columns(s: State, keys: tuple[str, ...] | None) -> tuple[str, ...] | None:
    extra = s.plotted.extra
    return None if keys is None else tuple(dict.fromkeys(column_key(key, extra, "columns") for key in keys))


def _named_sort(s: State) -> str:
    return s.sort_by and "-" * s.sort_by.startswith("-") + named_key(s.sort_by.removeprefix("-"), s.plotted.extra)


class View:
    """What of the chart is shown, and how."""

    search = Field(
        "shared",
        text,
        "",
        help="Only kernels whose full name contains each of these words, in any case; '*' in a word stands for any "
        "characters.",
        to_wire=wire.text_to_wire,
    )
    categories = Field(
        "shared",
        optional(lambda given: tuple(dict.fromkeys(names(given)))),
        page_type="readonly string[] | null",
        help="Only kernels of these categories, '' for those without; None for all.",
        to_wire=wire.texts_to_wire,
    )
    bounds = Field(
        "shared",
        optional(names),
        help="Only kernels that one of these binds on the focus chip: 'compute', a level's name, 'network', "
        "'overhead', 'unknown'; None for all.",
        fit=lambda s, given: None if given is None else check_bounds(given, known_bounds(s.all_chips, s.focus_chip)),
        follow=_keep_known_bounds,
        also=("chips", "added_chips", "focus_chip"),
    )
    precisions = Field(
        "shared",
        optional(lambda given: tuple(dict.fromkeys(map(folded, names(given))))),
        page_type="readonly string[] | null",
        help="Only kernels of these precisions, '' for unknown; None for all.",
        to_wire=wire.texts_to_wire,
    )
    phases = Field(
        "shared",
        optional(lambda given: tuple(dict.fromkeys(names(given)))),
        page_type="readonly string[] | null",
        help="Only kernels of these phases of a trace, such as 'prefill', '' for those without; None for all.",
        to_wire=wire.texts_to_wire,
    )
    time_share = Field(
        "shared",
        share_above_zero,
        1.0,
        page_type="number",
        help="Only the fewest kernels that make up this share of the whole table's self time; 1 for all, also "
        "those that were not measured.",
    )
    top = Field(
        "shared",
        optional(lambda value: whole_from_one(value, "top")),
        1000,
        page_type="number | null",
        help="At most this many of the kernels that pass all other filters, by self time; None for all.",
    )
    infeed = Field(
        "shared", flag, default=True, help="Whether categories that contain 'infeed' or 'outfeed' are shown."
    )
    scope = Field(
        "shared",
        one_of("kernels", "program"),
        "kernels",
        help="Whether the chart shows the kernels, or the program's totals and steps.",
    )
    sort_by = Field(
        "shared",
        text,
        "",
        help="The table's order: a column's key, with '-' in front for falling; '' for '-headroom'.",
        fit=lambda s, given: sort_key(given, s.plotted.extra),
        named=_named_sort,
        to_wire=wire.text_to_wire,
    )
    columns: Field[tuple[str, ...] | None] = Field(
        "shared",
        optional(names),
        help="The table's columns by key; None for the usual ones.",
        fit=_fit_columns,
        named=lambda s: None if s.columns is None else tuple(named_key(key, s.plotted.extra) for key in s.columns),
        to_wire=wire.texts_to_wire,
    )
    colour_by: Field[str] = Field(
        "shared",
        text,
        "category",
        help="The column that gives the points of measured kernels their colours: 'category', 'precision', 'time', "
        "'self_time', 'count', 'flops' or a column of the kernels' `extra`. Each text has a colour; numbers have a "
        "scale. 'category' counts if the kernels have no such column.",
        fit=lambda s, given: colour_column(given, s.plotted.extra),
        named=lambda s: s.colour_by if s.colour_by in COLOUR_COLUMNS else named_key(s.colour_by, s.plotted.extra),
        to_wire=wire.text_to_wire,
    )
    title = Field("python", text, "", help="The text above the chart.", to_wire=wire.text_to_wire)
    locale = Field(
        "python",
        language_of,
        ENGLISH,
        help="The language of the front end, of pictures and of pages: 'en', 'de', or a locale such as 'de-AT'. "
        "What Python itself writes stays English: messages, reports, tables and the companions.",
        sync=False,
        in_session=True,
    )
    view = Field(
        "shared",
        one_of("roofline", "time", "network", "instructions"),
        "roofline",
        help="'roofline': rate against intensity; 'time': memory time against compute time, per launch; 'network': "
        "bus bandwidth of collectives against message size; 'instructions': instructions of warps per second against "
        "instructions per transaction.",
        undo="alone",
    )
    topology = Field(
        "shared",
        one_of("ring", "switch", "in-network"),
        "switch",
        help="How the ranks are connected in the network view. 'in-network' is a switch that adds: the roof of an "
        "all-reduce is then 2 (n - 1)/n times the link's bandwidth. On a 'ring' that of an all-to-all is 2/n times it. "
        "See `roofwidget.network.sent_factor`.",
        undo="alone",
    )
    time_scale = Field(
        "shared",
        one_of("log", "linear"),
        "log",
        help="The axes of the time view. Linear axes begin at 0 and have equal scales.",
        follow=_show_whole_plane,
        also=("view",),
        undo="alone",
    )
    zoom = Field(
        "shared",
        optional(zoom_limits),
        help="The part of the plane that is shown, (x_low, x_high, y_low, y_high) in FLOP/B and FLOP/s, in the "
        "time view in seconds; None for the whole plane. Another view starts with None.",
        fit=_fit_zoom,
        undo="alone",
    )
    rate_unit = Field(
        "shared",
        one_of("FLOP/s", "FLOP/cycle", any_case=True),
        "FLOP/s",
        help="Unit of the vertical axis; per cycle of the focus chip's clock, where it is known.",
    )
    word = Field(
        "shared",
        whole_of(0, 2, 4, 8),
        0,
        help="The axes count intensity and bandwidth in words of this many bytes; 0 for bytes.",
    )
    x_axis = Field(
        "shared",
        one_of("intensity", "balance"),
        "intensity",
        help="The quantity on the horizontal axis: 'intensity', FLOP/B, or its inverse 'balance', B/FLOP.",
    )
    tick_base = Field("shared", whole_of(10, 2), 10, help="Ticks are at powers of ten, or of two.")
    frame = Field(
        "shared",
        one_of("points", "chip"),
        "points",
        help="What sets the range of the roofline's axes: 'points', the kernels and the roofs, or 'chip', the "
        "shown chips alone, so that charts of different kernels on the same chips compare. A `zoom` shows a part.",
        undo="alone",
    )
    open_files = Field(
        "python",
        one_of("folder", "uploads", "nothing"),
        "uploads",
        help="Which profiles a person may open in the page: files that the page sends and, with 'folder', files in "
        "the working directory of Python by their path; 'nothing' hides the button. The default is 'folder' in a "
        "cell that a person runs (JupyterLab, Notebook, marimo edit), and else 'uploads'. Sessions leave it out.",
        in_session=False,
    )
    presentation = Field("shared", flag, default=False, help="Everything 1.6 times as big, for a projector.")
    rulers = Field("shared", flag, default=True, help="A line at the pointer shows what each roof allows there.")
