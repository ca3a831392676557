"""Unpack an archive that somebody else made: only what may be a notebook, and never too much."""

import contextlib
import io
import re
import shutil
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Limits", "Unpacked", "unzip"]


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold."""

    file: int  # bytes of a file
    total: int  # bytes of all files together
    files: int


@dataclass(frozen=True)
class Unpacked:
    """A file of an archive: the folders that lead to it, and where it is now or why it's not."""

    parts: tuple[str, ...]
    path: Path | None = None
    reason: str = ""


def unzip(archive: Path, into: Path, wanted: tuple[str, ...], limits: Limits) -> Iterator[Unpacked]:
    """Unpack an archive file by file, each into a folder of its own.

    Args:
        archive: the archive; anything can be in it.
        into: an empty folder; no name in the archive leads out of it.
        wanted: the endings of the files to unpack, in lower case. All others are only named.
        limits: what is larger isn't unpacked.

    Yields:
        Each file, also one that can't be unpacked, with the reason.

    Raises:
        ValueError: it isn't an archive, or has too many files.
    """
    try:
        opened = zipfile.ZipFile(archive)
    except Exception:  # anything can be in a file that somebody else made
        raise ValueError("it can't be read as a zip archive.") from None
    with opened:
        infos = [info for info in opened.infolist() if not _name(info).endswith("/")]
        if len(infos) > limits.files:
            raise ValueError(f"it has {len(infos):,} files, and at most {limits.files:,} are read.")
        left = limits.total
        for number, info in enumerate(sorted(infos, key=_name)):
            parts = tuple(part for part in _name(info).split("/") if part not in ("", "."))
            reason = _refusal(info, parts, limits.file, left)
            if reason or not _name(info).lower().endswith(wanted):
                yield Unpacked(parts or ("?",), reason=reason)
                continue
            left -= info.file_size
            path = into / str(number) / re.sub(r"[^\w. -]", "_", parts[-1])[-100:]
            yield _extracted(opened, info, parts, path)


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file as it was meant, also where the archive doesn't say its encoding.

    Without a flag zipfile takes it for the encoding of MS-DOS, but macOS writes UTF-8.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _refusal(info: zipfile.ZipInfo, parts: tuple[str, ...], most: int, left: int) -> str:
    """Say why a file isn't unpacked; empty if it can be."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if not parts or ".." in parts or _name(info).startswith("/") or parts[0].endswith(":"):
        return "its name leads out of the archive."
    if kind not in (0, stat.S_IFREG):
        return "it is a link or another special file, and only plain files are read."
    if info.flag_bits & 1:
        return "it is encrypted."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way."
    if info.file_size > most:
        return f"it has {info.file_size / 1e6:.0f} MB, and at most {most / 1e6:.0f} MB are read."
    if info.file_size > left:
        return "the files before it in its archive are too large in total."
    return ""


def _extracted(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: tuple[str, ...], path: Path
) -> Unpacked:
    unpacked = io.BytesIO()
    try:
        # In pieces, it stops at the size that the archive tells, however much there is.
        with archive.open(info) as packed:
            shutil.copyfileobj(packed, unpacked)
    except Exception:
        return Unpacked(parts, reason="it is damaged and can't be unpacked.")
    path.parent.mkdir(parents=True)
    path.write_bytes(unpacked.getvalue())
    return Unpacked(parts, path)
