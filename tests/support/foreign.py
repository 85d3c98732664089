"""Files, links, folders and pipes that a run has not made, and how to see that they stayed."""

import os
import stat

KINDS = ("file", "link", "dangling", "folder", "fifo")


def put(path, kind):
    if kind == "file":
        path.write_bytes(b"mine\n")
    elif kind == "link":
        (path.parent / "victim").write_bytes(b"mine\n")
        path.symlink_to(path.parent / "victim")
    elif kind == "dangling":
        path.symlink_to(path.parent / "nowhere")
    elif kind == "folder":
        path.mkdir()
        (path / "precious").write_bytes(b"mine\n")
    else:
        os.mkfifo(path)


def seen(path):
    """What is there: kind, inode, target of a link, bytes."""
    status = os.lstat(path)
    mode = stat.S_IFMT(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(path)
        return mode, status.st_ino, target, os.path.exists(target) and open(target, "rb").read()
    if stat.S_ISDIR(status.st_mode):
        return mode, status.st_ino, (path / "precious").read_bytes()
    content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
    return mode, status.st_ino, content
