"""Archives whose bytes depend on their content alone: fixed times, owners and order.

A file is a triple of its path in the archive, its content (bytes, or the path of a file) and its mode.
"""

import base64
import gzip
import hashlib
import io
import tarfile
import time
import zipfile


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content(what):
    return what if isinstance(what, bytes) else what.read_bytes()


def tar_gz(path, files, epoch, level):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", level, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, what, mode in files:
                data = content(what)
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(data), mode, epoch
                archive.addfile(entry, io.BytesIO(data))


def wheel(path, files, record, epoch, level):
    """A wheel of PyPI: a zip with the hash of each file in `record`."""
    # Zip knows no time before 1980.
    when = time.gmtime(max(epoch, 315532800))[:6]
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:

        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, compresslevel=level)

        for name, what, mode in files:
            data = content(what)
            hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={hashed},{len(data)}\n")
            add(name, data, mode)
        add(record, "".join([*lines, f"{record},,\n"]).encode(), 0o644)
